import { UnavailableError } from '../../shared/runtime/errors.ts';

interface Waiting {
  readonly service: string;
  /** Aborted when the service goes away. */
  readonly lost: AbortSignal;
  /** Aborted while the service answers nothing. Left out where that isn't known. */
  readonly silent?: AbortSignal | undefined;
  /** Left out: as long as the service is there. */
  readonly withinMs: number | undefined;
}

/**
 * Waits for an answer while its service is there: a command that is sent while it goes away waits for it, for ever.
 *
 * @throws UnavailableError when the service goes away or answers nothing, or the answer doesn't come in time
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
