import { FetchError } from '../../ports/fetcher.ts';

/** How long to wait for a step on the way to a connection, and until when anybody wants it. */
export interface Patience {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  readonly phaseMs: number;
}

/** Waits for a step. Rejects with `late()` after its time is up, and with `aborted` when nobody waits any more. */
export async function within<T>({ signal, phaseMs }: Patience, step: Promise<T>, late: () => Error): Promise<T> {
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(new FetchError('aborted', 'The request was given up'));
    const timer = setTimeout(() => reject(late()), phaseMs);
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([step, stopped]);
  } finally {
    stop();
  }
}
