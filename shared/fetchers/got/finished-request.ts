import type { Request } from 'got';

/**
 * Properties by which got's request still holds other objects when it is over. Most are private, so got is pinned:
 * `test/unit/pinned/got.test.ts`.
 */
export const HELD = ['response', '_request', '_requestOptions', '_unproxyEvents', '_cancelTimeouts'] as const;

/**
 * Releases everything that a finished request holds. Call it once the answer has been read to its end.
 *
 * V8 allocates a function among the old objects if it is assigned to a property where it is written, and every writable stream
 * of Node.js has such a function that holds the stream (`WritableState.onwrite`). got's request is a writable stream, so it
 * survives every collection of young objects, with its answer, its headers and all their listeners. That is 14 KB per page,
 * copied twice: 29 µs of a page's 480.
 */
export function emptyFinished(request: Request): void {
  request.removeAllListeners();
  // The request can't fail any more; an error here would concern nobody.
  request.on('error', () => {});
  const held = request as unknown as Partial<Record<(typeof HELD)[number], unknown>>;
  for (const name of HELD) if (held[name] !== undefined) held[name] = undefined;
}
