import { summaryJson } from '../../../shared/control/summary-json.ts';
import { FetchError, type Fetcher } from '../../../shared/ports/fetcher.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf } from '../../../shared/runtime/errors.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import type { KeptHook } from './hook-file.ts';
import { signedHeaders } from './signature.ts';

/** Time after which a delivery without an answer has failed. */
const DELIVERY_MS = 15 * SECOND_MS;
/** Maximum bytes of the receiver's answer. Nothing reads it. */
const MOST_ANSWER_BYTES = 65_536;

/** The result of one delivery. `error` is null if the receiver accepted it. */
export interface Delivered {
  readonly status: number | null;
  readonly error: string | null;
}

interface DeliveryParts {
  readonly fetcher: () => Promise<Fetcher>;
  readonly clock: Clock;
  /** Ends the delivery early. */
  readonly signal: AbortSignal;
}

/** Posts the summary of an ended run to its receiver, once. A redirect is a failure, since it names an address other than the submitted one. */
export async function deliver(
  hook: Pick<KeptHook, 'id' | 'url' | 'secret'>,
  progress: RunProgress,
  { fetcher, clock, signal }: DeliveryParts,
): Promise<Delivered> {
  const body = JSON.stringify(bodyOf(progress));
  const over = new AbortController();
  const late = new AbortController();
  void clock.sleep(DELIVERY_MS, over.signal).then(() => !over.signal.aborted && late.abort());
  try {
    const headers = signedHeaders(hook.id, clock.now(), body, hook.secret);
    const { status } = await (await fetcher()).fetch({
      url: hook.url,
      send: { method: 'POST', body, headers, mayRepeat: true },
      signal: AbortSignal.any([signal, late.signal]),
      maxBodyBytes: MOST_ANSWER_BYTES,
      // Otherwise anyone who can submit a run could post to any path of a host with this deployment's credentials for it.
      isForOthers: true,
    });
    return { status, error: errorOf(status) };
  } catch (error: unknown) {
    // The status counts even if reading the answer's body failed.
    const status = error instanceof FetchError ? (error.status ?? null) : null;
    if (status !== null && isSuccess(status)) return { status, error: null };
    return { status, error: late.signal.aborted ? `no answer within ${DELIVERY_MS / SECOND_MS} s` : messageOf(error) };
  } finally {
    over.abort();
  }
}

function bodyOf(progress: RunProgress): object {
  const { startedAt, endedAt = progress.readAt, state } = progress;
  const times = { startedAt: new Date(startedAt).toISOString(), endedAt: new Date(endedAt).toISOString() };
  return { type: `run.${state}`, timestamp: times.endedAt, data: { ...summaryJson(progress), ...times } };
}

function errorOf(status: number): string | null {
  if (isSuccess(status)) return null;
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
