import { statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commands } from '../../../../contract/frontier/model/histories.ts';
import { GIVE_UP_MS, Model, type ModelRun } from '../../../../contract/frontier/model/model.ts';
import { World } from '../../../../contract/frontier/model/world.ts';
import { crashedFolder, type KeptStore, openKeptStore } from '../../../../support/stores/kept-store.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

/** `MODEL_RUNS=5000` tests for longer; `MODEL_SEED` repeats the seed that a failure printed. */
const RUNS = Number(process.env.MODEL_RUNS ?? 150);
const SEED = process.env.MODEL_SEED;
const POLICY = { giveUpMs: GIVE_UP_MS };

/** The acknowledged state of one run, by the length of the log at that moment. */
interface Moment {
  readonly bytes: number;
  readonly ended: ReadonlySet<string>;
  readonly live: ReadonlyMap<string, number>;
  readonly state: ModelRun['state'];
}

function momentOf(run: ModelRun, bytes: number): Moment {
  const over = run.tasks.filter(({ where }) => where !== 'waiting' && where !== 'flight');
  const live = run.tasks.filter(({ where }) => where === 'waiting' || where === 'flight');
  return {
    bytes,
    state: run.state,
    ended: new Set(over.map(({ mark }) => mark)),
    live: new Map(live.map(({ mark, attempts }) => [mark, attempts])),
  };
}

/** Runs a history on a store in a file, and records after each command what the store has promised. */
async function live(store: KeptStore, history: ReturnType<typeof commands> extends fc.Arbitrary<infer T> ? T : never) {
  const model = new Model(store.now());
  const world = new World(async () => [store]);
  await world.begin();
  const moments = new Map<string, Moment[]>();
  for (const command of history) {
    if (!command.check(model)) continue;
    await command.run(model, world);
    for (const run of model.runs.values()) {
      const { size } = statSync(join(store.folder, 'trawl.sqlite-wal'));
      const own = moments.get(run.id) ?? [];
      own.push(momentOf(run, size));
      moments.set(run.id, own);
    }
  }
  return moments;
}

/** The crash may have come between a pause by hand and its end: a person ends it again. */
async function resumeHosts({ gate, hosts }: KeptStore): Promise<void> {
  for (const { host, byHand } of await hosts.paused(10)) if (byHand) await gate.resume(host);
}

/** Works a run to its end. Returns what was released on the way, with the attempts that it had. */
async function finish(store: KeptStore, id: string): Promise<(readonly [mark: string, attempts: number])[]> {
  const { frontier, runs } = store;
  const released: (readonly [string, number])[] = [];
  await runs.resume(id);
  await resumeHosts(store);
  if ((await runs.open(id, {} as never, 'last')).how !== 'cancelled') await runs.seal(id, 'last');
  for (let round = 0; (await runs.progress(id))?.endedAt === undefined; round++) {
    expect(round, 'it comes to an end').toBeLessThan(200);
    const { tasks } = await frontier.release({ limit: 200, window: 1_000, unpaced: false });
    for (const { task, release, verdict, state } of tasks) {
      released.push([task.mark, state.attempts]);
      const outcome = verdict === 'go' ? ({ kind: 'done' } as const) : ({ kind: 'failed', reason: verdict } as const);
      await frontier.settle(id, release, { outcome });
    }
    // As the janitor does: tasks of a cancelled run are removed some at a time.
    await frontier.drain();
    store.step(61_000);
  }
  return released;
}

test(`${RUNS} random histories, each crashed at a random byte: everything acknowledged is still there`, async () => {
  const cut = fc.record({ run: fc.nat(3), bytes: fc.nat(1_000_000) });
  await fc.assert(
    fc.asyncProperty(commands(60, { unruly: false }), cut, async (history, crash) => {
      // One clock for both: the next process continues after the one that crashed.
      const clock = new SteppedClock();
      const store = await openKeptStore({ policy: POLICY, clock });
      const moments = [...(await live(store, history))];
      const [id, own] = moments[crash.run % Math.max(1, moments.length)] ?? ['', []];
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined) return await store.close();
      const bytes = first.bytes + (crash.bytes % (last.bytes - first.bytes + 1));
      const folder = await crashedFolder(store.folder, bytes);
      await store.close();
      const again = await openKeptStore({ policy: POLICY, clock, folder, resume: [id] });
      try {
        await expectKept(again, id, own, bytes);
      } finally {
        await again.close();
      }
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  );
}, 600_000);

async function expectKept(store: KeptStore, id: string, moments: readonly Moment[], bytes: number): Promise<void> {
  const promised = moments.findLast((moment) => moment.bytes <= bytes) as Moment;
  const next = moments.find((moment) => moment.bytes > bytes) ?? promised;
  const progress = await store.runs.progress(id);
  if (progress === undefined) throw new Error('the run is lost');
  const { discovered, waiting, inFlight, done, skipped, failed, cancelled } = progress;
  expect(inFlight, 'nothing is in flight after a crash').toBe(0);
  expect(waiting + done + skipped + failed + cancelled, 'the identity').toBe(discovered);
  const [least, most] = [promised, next].map(({ ended, live: alive }) => ended.size + alive.size);
  expect(discovered, 'all that was taken').toBeGreaterThanOrEqual(least ?? 0);
  expect(discovered, 'and no more than was offered').toBeLessThanOrEqual(most ?? 0);
  const attempts = new Map(await finish(store, id));
  const released = [...attempts.keys()];
  expect(released.length, 'each once, of a cancelled run none').toBe(progress.state === 'cancelled' ? 0 : waiting);
  for (const mark of released) expect(promised.ended.has(mark), `${mark} was over before`).toBe(false);
  if (promised.state === 'cancelled' || next.state === 'cancelled') return;
  for (const [mark, counted] of promised.live) {
    if (next.ended.has(mark) && !attempts.has(mark)) continue;
    expect(attempts.get(mark), `${mark} was taken, and tried as often as acknowledged`).toBeGreaterThanOrEqual(counted);
  }
  expect(await store.runs.progress(id)).toMatchObject({ state: 'finished', discovered, waiting: 0, inFlight: 0 });
}
