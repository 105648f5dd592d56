import type { Clock } from '../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import type { Stopping } from './embedded-fleet.ts';

interface StoppingOptions {
  /** Aborting it stops the fleet. */
  readonly signal: AbortSignal;
  /** Name of what stops it, as shown to people: `the API`. */
  readonly who: string;
  /** Time that the pages in hand then have. */
  readonly graceMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Returns a request to stop that an aborted signal triggers. */
export function stoppingBy({ signal, who, graceMs, clock }: StoppingOptions): Stopping {
  return {
    signal,
    get by() {
      return signal.aborted ? who : undefined;
    },
    seconds: graceMs / SECOND_MS,
    lastWords: [`A page held ${who} up.`],
    async within(stop, hurry) {
      const over = new AbortController();
      void clock.sleep(graceMs, over.signal).then(() => !over.signal.aborted && hurry());
      await stop().finally(() => over.abort());
    },
  };
}
