import type { LookupFunction } from 'node:net';
import { FetchError } from '../../ports/fetcher.ts';

/** The time limit of each step towards a connection, the signal that cancels it, and how the proxy's name is looked up. */
export interface ProxyTimeout {
  /** Aborted when the request is given up. */
  readonly signal: AbortSignal;
  readonly phaseMs: number;
  /** Finds the proxy's addresses by its name. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
}

/** Waits for a step. Rejects with `late()` when its time is up, and with an `aborted` error when the request is given up. */
export async function within<T>({ signal, phaseMs }: ProxyTimeout, step: Promise<T>, late: () => Error): Promise<T> {
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
