import { type SlotResult, SlotWait } from '../../../../shared/loops/slot-wait.ts';
import type { Grant, HostLimit } from '../../../../shared/ports/host-gate.ts';
import { settled } from '../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

export const HOST = 'a.test';

/** A gate, what it was asked and answered, and a clock that the test steps. */
export function setup({ intervalMs = 0, concurrency = 0 }: Partial<HostLimit> = {}) {
  const clock = new SteppedClock();
  const { gate } = openLocalParts({ clock });
  const limit = { intervalMs, concurrency };
  const asked: Grant[] = [];
  const watched = withMethods(gate, {
    ask: async (...args) => {
      const grant = await gate.ask(...args);
      asked.push(grant);
      return grant;
    },
  });
  const slots = new SlotWait({ gate: watched, clock });
  const abort = new AbortController();
  return {
    clock,
    gate,
    slots,
    limit,
    asked,
    abort,
    /** Begins to acquire a slot; `result` is filled in when that is over. */
    acquire(holder = 'me', pausedMs = 0, isTakenOver = false): { result?: SlotResult } {
      const acquiring: { result?: SlotResult } = {};
      void slots
        .tryAcquire({ host: HOST, holder, limit, pausedMs, isTakenOver, signal: abort.signal })
        .then((result) => {
          acquiring.result = result;
        });
      return acquiring;
    },
    /** Steps the clock and lets who waits for it go on. */
    async step(ms: number): Promise<void> {
      await settled();
      clock.step(ms);
      await settled();
    },
  };
}
