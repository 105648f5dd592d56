import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * Has answers over an HTTP/2 connection of undici's end with an error if the server cancels them in their middle, as a proxy
 * does that loses its own server. For Node.js and undici, such a body is a complete one; any other code is an error. undici is
 * pinned, since it has no option for that: `test/unit/pinned/undici.test.ts`.
 */
export function noticeCancelled(socket: Socket): void {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'http2Session');
  const session = name && (socket as unknown as Readonly<Record<symbol, ClientHttp2Session | undefined>>)[name];
  if (!session) return;
  const request = session.request.bind(session);
  session.request = (headers, options) => {
    const stream = request(headers, options);
    // Before undici, which hears of the end by a listener of its own.
    stream.once('end', failCancelled);
    return stream;
  };
}

function failCancelled(this: ClientHttp2Stream): void {
  if (this.rstCode !== constants.NGHTTP2_CANCEL) return;
  const message = 'The server has cancelled the answer in its middle';
  this.emit('error', Object.assign(new Error(message), { code: 'ERR_HTTP2_STREAM_CANCEL' }));
}
