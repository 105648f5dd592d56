import { setTimeout as sleep } from 'node:timers/promises';

/** Looks again and again until `condition` holds; a look that throws is a no. Fails after `withinMs`, with what was awaited. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  { withinMs = 60_000, everyMs = 100 } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error: unknown) {
      last = error;
    }
    await sleep(everyMs);
  }
  const seen = last instanceof Error ? ` (${last.message})` : '';
  throw new Error(`waited ${Math.round(withinMs / 1_000)} s in vain: ${what}${seen}`, { cause: last });
}

/** Lets time pass where the fault is a length of time: a broker that is away for half a minute. */
export async function passes(ms: number): Promise<void> {
  await sleep(ms);
}
