import { type Embedded, openEmbedded } from '../../../shared/backends/embedded.ts';
import { openFetcher } from '../../../shared/backends/fetchers.ts';
import { type Fetcher, PageHold } from '../../../shared/ports/fetcher.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { nextUrlOf } from '../../../shared/task/task/task.ts';
import { hostHeadersOf } from '../../process/host-headers.ts';
import type { Calls } from '../../worker/pipeline/around-fetch.ts';
import { Robots } from '../../worker/pipeline/hosts/robots.ts';
import { type Requested, Requests } from '../../worker/pipeline/requests.ts';
import { hostOf, type Visit } from '../../worker/pipeline/visit.ts';
import { Sessions } from '../../worker/sessions/sessions.ts';
import type { Context } from '../command.ts';
import { say } from '../text/output.ts';

/** The result for one page: it arrived, or its task would have ended otherwise. */
type FetchedOnce = Exclude<Requested, { readonly laterMs: number }>;

/** Worker slots, more than one page needs, since a silent host gets at most half of them. */
const SLOTS = 10;

/** What a command asks hosts with that stores nothing: stores in memory, with the gate that keeps the pace, and a fetcher. */
export interface Asking {
  readonly stores: Embedded;
  readonly fetcher: Fetcher;
  close(): Promise<void>;
}

/** Opens what {@link fetchOnce} needs. */
export async function openAsking({ settings, log }: Pick<Context, 'settings' | 'log'>): Promise<Asking> {
  const hostHeaders = await hostHeadersOf(settings);
  const stores = await openEmbedded(settings);
  const fetcher = await openFetcher({ settings, version: VERSION, hostHeaders, log });
  return {
    stores,
    fetcher,
    async close() {
      await fetcher.stop();
      stores.close();
    },
  };
}

/**
 * Fetches the page of a visit as a crawl of one process does: with the same fetcher and address guard, robots.txt, rate and redirects.
 * Nothing is stored. Where a crawl would put the task back, this waits.
 *
 * @param onWait called with the host and the milliseconds of each wait
 */
export async function fetchOnce(
  visit: Visit,
  steps: Calls,
  { settings, log }: Pick<Context, 'settings' | 'log'>,
  { stores, fetcher }: Pick<Asking, 'stores' | 'fetcher'>,
  signal: AbortSignal,
  onWait: (host: string, waitMs: number) => void,
): Promise<FetchedOnce> {
  const { hostConcurrency, fetchTimeout: timeoutMs, maxBody: maxBodyBytes, maxRedirects } = settings;
  const parts = { gate: stores.gate, fetcher, hostConcurrency, clock: systemClock, random: Math.random };
  const robots =
    settings.robots === 'obey' ? new Robots({ ...parts, store: stores.robots, timeoutMs, log }) : undefined;
  const slots = { total: SLOTS, noteShortage: () => {}, noteInLine: () => {} };
  const limits = { maxBodyBytes, maxRedirects, signal };
  let refused: string | undefined;
  const runs = {
    // There is no run to pause. A failed login ends the trial.
    pause: async (_: string, reason?: string) => {
      refused = reason ?? 'its login failed';
      return undefined;
    },
    standing: async () => undefined,
  };
  const sessions = new Sessions({ ...parts, ...limits, steps, robots, runs, log });
  const requests = new Requests({ ...parts, ...limits, steps, sessions, robots, slots });
  for (let at = visit; ; ) {
    const rules = await robots?.look(nextUrlOf(at.task));
    const requested = await requests.make(at, { rules, arrival: undefined }, new PageHold());
    signal.throwIfAborted();
    if (!('laterMs' in requested)) {
      await requested.left;
      return requested;
    }
    if (refused !== undefined) {
      const outcome = { kind: 'failed', reason: 'step', detail: refused } as const;
      return { visit: requested.visit, ending: { outcome } };
    }
    onWait(hostOf(requested.visit), requested.laterMs);
    await systemClock.sleep(requested.laterMs, signal);
    signal.throwIfAborted();
    at = { ...visit, task: requested.visit.moved ?? at.task };
  }
}

/** Longer waits are reported. */
const TOLD_WAIT_MS = 3_000;

/** Tells the user of a long wait. */
export function sayWait(host: string, waitMs: number): void {
  if (waitMs >= TOLD_WAIT_MS) say(`Waiting ${Math.ceil(waitMs / SECOND_MS)} s for ${host}.`);
}
