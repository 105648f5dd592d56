import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * Corrects what Node.js and undici make of answers over an HTTP/2 connection. undici is pinned, since it has no option for that:
 * `test/unit/pinned/undici.test.ts`.
 *
 * - If the server cancels an answer in its middle, as a proxy does that loses its own server, its body ends with an error. For both, it
 *   is a complete one; any other code is an error.
 * - Several `X-Robots-Tag` stay several: each may be for another crawler.
 */
export function correctHttp2Answers(socket: Socket): void {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'http2Session');
  const session = name && (socket as unknown as Readonly<Record<symbol, ClientHttp2Session | undefined>>)[name];
  if (!session) return;
  const request = session.request.bind(session);
  session.request = (headers, options) => {
    const stream = request(headers, options);
    // Before undici, which listens to the same events.
    stream.once('end', failCancelled).once('response', separateTags);
    return stream;
  };
}

function failCancelled(this: ClientHttp2Stream): void {
  if (this.rstCode !== constants.NGHTTP2_CANCEL) return;
  const message = 'The server has cancelled the answer in its middle';
  this.emit('error', Object.assign(new Error(message), { code: 'ERR_HTTP2_STREAM_CANCEL' }));
}

/** @param lines names and values in turn, as they came */
function separateTags(headers: IncomingHttpHeaders, _flags: number, lines: readonly string[]): void {
  if (headers['x-robots-tag'] === undefined) return;
  headers['x-robots-tag'] = lines.filter((_, index) => index % 2 === 1 && lines[index - 1] === 'x-robots-tag');
}
