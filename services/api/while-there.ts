import { UnavailableError } from '../../shared/runtime/errors.ts';

interface Waiting {
  readonly service: string;
  /** Aborted when the connection to the service is lost. */
  readonly lost: AbortSignal;
  /** Aborted while the service is connected but answers nothing. Left out for services where that isn't observed. */
  readonly silent?: AbortSignal | undefined;
  /** Longest wait. No limit if undefined. */
  readonly withinMs: number | undefined;
  /** The message of the error if the answer takes too long. Default: the service did not answer in time. */
  readonly late?: string | undefined;
}

/**
 * Waits for an answer for as long as its service is reachable. Without this, a command sent just as the connection goes would wait for ever.
 *
 * @throws UnavailableError when the connection is lost, the service falls silent, or the answer takes too long
 */
export async function whileThere<T>(
  answer: Promise<T>,
  { service, lost, silent, withinMs, late }: Waiting,
): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = (why: string): void => given.reject(new UnavailableError(why));
  const onLate = (): void => giveUp(late ?? `${service} did not answer in time`);
  const timer = withinMs === undefined ? undefined : setTimeout(onLate, withinMs);
  const onLost = (): void => giveUp(`${service} went away`);
  const onSilent = (): void => giveUp(`${service} does not answer`);
  lost.addEventListener('abort', onLost, { once: true });
  silent?.addEventListener('abort', onSilent, { once: true });
  answer.catch(() => {});
  try {
    return await Promise.race([answer, given.promise]);
  } finally {
    clearTimeout(timer);
    lost.removeEventListener('abort', onLost);
    silent?.removeEventListener('abort', onSilent);
  }
}
