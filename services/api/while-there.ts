import { UnavailableError } from '../../shared/runtime/errors.ts';

interface Waiting {
  readonly service: string;
  /** Aborted when the connection to the service is lost. */
  readonly lost: AbortSignal;
  /** Aborted while the service is connected but answers nothing. Left out for services where that isn't observed. */
  readonly silent?: AbortSignal | undefined;
  /** Longest wait. No limit if undefined. */
  readonly withinMs: number | undefined;
}

/**
 * Waits for an answer for as long as its service is reachable. Without this, a command sent just as the connection goes would wait for ever.
 *
 * @throws UnavailableError when the connection is lost, the service falls silent, or the answer takes too long
 */
export async function whileThere<T>(answer: Promise<T>, { service, lost, silent, withinMs }: Waiting): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = (why: string): void => given.reject(new UnavailableError(`${service} ${why}`));
  const timer = withinMs === undefined ? undefined : setTimeout(() => giveUp('did not answer in time'), withinMs);
  const onLost = (): void => giveUp('went away');
  const onSilent = (): void => giveUp('does not answer');
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
