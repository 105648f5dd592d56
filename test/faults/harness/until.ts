import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until `condition` holds; throwing counts as false. Rejects after `withinMs`, and says what it waited for. */
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

/** Lets time pass where the duration itself is the fault, such as a broker that is away for half a minute. */
export async function passes(ms: number): Promise<void> {
  await sleep(ms);
}
