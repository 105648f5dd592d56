import { FetchError, type OpenDocument } from '../../../shared/ports/fetcher.ts';

/**
 * Yields the bytes of a body, with a limit on the time that its server takes for all of them. Time in which they wait to be consumed
 * doesn't count: a sitemap is read only as fast as its URLs are taken, in turns with those of other hosts.
 *
 * @throws FetchError when the server takes longer, and the body's own errors
 */
export async function* arriving(body: OpenDocument['body'], mostMs: number): AsyncGenerator<Uint8Array, void, void> {
  const pieces = body[Symbol.asyncIterator]();
  let leftMs = mostMs;
  for (;;) {
    const began = performance.now();
    const next = await within(pieces.next(), leftMs, mostMs);
    leftMs -= performance.now() - began;
    if (next.done === true) return;
    yield next.value;
  }
}

async function within<T>(waiting: Promise<T>, ms: number, mostMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tell = (): void => reject(new FetchError('timeout', `The body did not arrive within ${mostMs} ms`));
    timer = setTimeout(tell, Math.max(0, ms));
  });
  try {
    return await Promise.race([waiting, late]);
  } finally {
    clearTimeout(timer);
  }
}
