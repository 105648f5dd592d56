import { describe, expect, onTestFinished, test } from 'vitest';
import { type Roster, WORKER_SILENT_MS, type WorkerBeat } from '../../../shared/ports/roster.ts';

/** A roster under test, on a clock that the test steps. */
export interface OpenedRoster {
  readonly roster: Roster;
  step(ms: number): void;
  close(): Promise<void>;
}

function beat(id: string, extra: Partial<WorkerBeat> = {}): WorkerBeat {
  return { id, host: 'machine', version: '1.2.3', slots: 32, inHand: 0, bound: 'slots', state: 'consuming', ...extra };
}

/** The contract of every roster. */
export function describeRoster(name: string, open: () => Promise<OpenedRoster>): void {
  describe(`roster: ${name}`, () => {
    async function setup(): Promise<OpenedRoster & { ids(): Promise<string[]> }> {
      const opened = await open();
      onTestFinished(() => opened.close());
      return {
        ...opened,
        ids: async () => (await opened.roster.workers()).map(({ id }) => id).toSorted(),
      };
    }

    test('no workers are listed before the first beat', async () => {
      const { roster } = await setup();
      expect(await roster.workers()).toEqual([]);
    });

    test('a worker is listed as it described itself, with the time since its last beat', async () => {
      const { roster, step } = await setup();
      const worker = beat('w-1', { inHand: 7, state: 'waiting: Redis' });
      await roster.beat(worker);
      expect(await roster.workers()).toEqual([{ ...worker, silentMs: 0 }]);
      step(12_000);
      expect(await roster.workers()).toEqual([{ ...worker, silentMs: 12_000 }]);
    });

    test('each beat of a worker replaces the previous one', async () => {
      const { roster, step } = await setup();
      await roster.beat(beat('w-1'));
      step(5_000);
      await roster.beat(beat('w-1', { inHand: 3, state: 'stopping' }));
      expect(await roster.workers()).toMatchObject([{ id: 'w-1', inHand: 3, state: 'stopping', silentMs: 0 }]);
    });

    test('workers are listed separately, and one that leaves is gone at once', async () => {
      const { roster, ids } = await setup();
      for (const id of ['w-1', 'w-2', 'w-3']) await roster.beat(beat(id));
      await roster.leave('w-2');
      await roster.leave('nobody');
      expect(await ids()).toEqual(['w-1', 'w-3']);
    });

    test('the capacity is that of the workers listed', async () => {
      const { roster, step } = await setup();
      expect(await roster.capacity()).toEqual({ workers: 0, slots: 0 });
      await roster.beat(beat('w-1', { slots: 32 }));
      await roster.beat(beat('w-2', { slots: 8 }));
      step(10_000);
      await roster.beat(beat('w-3', { slots: 5 }));
      await roster.beat(beat('w-2', { slots: 4 }));
      await roster.leave('w-3');
      expect(await roster.capacity()).toEqual({ workers: 2, slots: 36 });
      step(WORKER_SILENT_MS - 9_999);
      expect(await roster.capacity()).toEqual({ workers: 1, slots: 4 });
      expect(await roster.workers()).toHaveLength(1);
    });

    test('a silent worker expires although the clock was set back', async () => {
      const { roster, step, ids } = await setup();
      await roster.beat(beat('silent'));
      step(-86_400_000);
      await roster.beat(beat('alive'));
      step(WORKER_SILENT_MS / 0.9 + 1_000);
      await roster.beat(beat('alive'));
      expect(await ids()).toEqual(['alive']);
    });

    test('a worker that is silent for longer than 30 s counts as gone, and comes back with its next beat', async () => {
      const { roster, step, ids } = await setup();
      await roster.beat(beat('silent'));
      step(10_000);
      await roster.beat(beat('heard'));
      step(WORKER_SILENT_MS - 10_000);
      expect(await ids()).toEqual(['heard', 'silent']);
      step(1);
      expect(await ids()).toEqual(['heard']);
      step(-1);
      expect(await ids(), 'forgotten for good').toEqual(['heard']);
      await roster.beat(beat('silent'));
      expect(await ids()).toEqual(['heard', 'silent']);
    });

    test('a clock that steps back never makes a silence negative', async () => {
      const { roster, step } = await setup();
      await roster.beat(beat('w-1'));
      step(-60_000);
      expect(await roster.workers()).toMatchObject([{ silentMs: 0 }]);
    });
  });
}
