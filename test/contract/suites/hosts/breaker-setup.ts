import { onTestFinished } from 'vitest';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { FrontierPolicy } from '../../../../shared/stores/policy.ts';
import { HOUR_MS } from '../../../../shared/task/durations.ts';
import type { HostFault } from '../../../../shared/task/host/breaker.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { offerOf } from '../../../support/stores/embedded.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { ROOM } from '../frontier/frontier-setup.ts';

export const ANSWER: Settlement = { outcome: { kind: 'done' }, hostAnswered: true };

export function fault(hostFault: HostFault): Settlement {
  return { outcome: { kind: 'retry', reason: 'connection', inMs: 10 * HOUR_MS }, hostAnswered: false, hostFault };
}

export const REFUSED = fault('connection errors');

/** Opens a store with a run of twenty pages on one host. */
export async function openBreaker(open: OpenStore, policy: Partial<FrontierPolicy> = { giveUpMs: 100 * HOUR_MS }) {
  const store = await open(policy);
  onTestFinished(() => store.close());
  const { frontier, runs } = store;
  // On a full second no jitter is added.
  store.step(1_000 - (store.now() % 1_000));
  await runs.open('r', FAST_RUN, 'p');
  const offer = (run: string, from: number, to: number) =>
    frontier.offer(
      run,
      Array.from({ length: to - from + 1 }, (_, i) => offerOf(`http://a.test/${from + i}`)),
    );
  await offer('r', 1, 20);
  return {
    ...store,
    offer,
    /** Releases this many tasks, or all that are due. Returns their numbers. */
    async release(limit = 200): Promise<number[]> {
      return (await frontier.release({ ...ROOM, limit })).tasks.map(({ release }) => release);
    },
    /** Settles several tasks of run `r` in the same way. */
    async settle(releases: readonly number[], settlement: Settlement): Promise<void> {
      for (const release of releases) await frontier.settle('r', release, settlement);
    },
    /** Opens the breaker: five tasks fail. */
    async openIt(): Promise<void> {
      const { tasks } = await frontier.release({ ...ROOM, limit: 5 });
      for (const { release } of tasks) await frontier.settle('r', release, REFUSED);
    },
    async host() {
      return (await runs.hosts('r', 1))[0];
    },
  };
}
