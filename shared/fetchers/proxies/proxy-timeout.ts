import type { LookupFunction } from 'node:net';
import { FetchError } from '../../ports/fetcher.ts';

/** How long to wait for a step on the way to a connection, until when anybody wants it, and how the proxy is found. */
export interface ProxyTimeout {
  /** Aborted when the request was given up. */
  readonly signal: AbortSignal;
  readonly phaseMs: number;
  /** Finds the proxy's addresses by its name. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
}

/** Waits for a step. Rejects with `late()` after its time is up, and with `aborted` when the request was given up. */
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
