import { UnavailableError } from '../../shared/runtime/errors.ts';

interface Waiting {
  readonly service: string;
  /** Aborted when the service goes away. */
  readonly lost: AbortSignal;
  /** Left out: as long as the service is there. */
  readonly withinMs: number | undefined;
}

/**
 * Waits for an answer while its service is there: a command that is sent while it goes away waits for it, for ever.
 *
 * @throws UnavailableError when the service goes away, or the answer doesn't come in time
 */
export async function whileThere<T>(answer: Promise<T>, { service, lost, withinMs }: Waiting): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = (why: string): void => given.reject(new UnavailableError(`${service} ${why}`));
  const timer = withinMs === undefined ? undefined : setTimeout(() => giveUp('did not answer in time'), withinMs);
  const onLost = (): void => giveUp('went away');
  lost.addEventListener('abort', onLost, { once: true });
  answer.catch(() => {});
  try {
    return await Promise.race([answer, given.promise]);
  } finally {
    clearTimeout(timer);
    lost.removeEventListener('abort', onLost);
  }
}
