import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { OpenAnswers } from './open-answers.ts';

/** Maximum headers of an answer: as many as fit into the 64 KiB that Node.js accepts, by HTTP/2's way of counting (RFC 9113 section 6.5.2). */
const MOST_HEADERS = 2_048;

/**
 * Makes Node.js accept answers with many headers; by default it resets one that has more than 128. undici has no option for that, but it
 * calls `http2.connect` before `connect` returns.
 *
 * @param connect hands a connection to undici
 */
export function allowingManyHeaders(connect: () => void): void {
  const { connect: original } = http2;
  const allowing = (authority: string, options: http2.SecureClientSessionOptions) =>
    original(authority, { ...options, maxHeaderListPairs: MOST_HEADERS });
  Object.assign(http2, { connect: allowing });
  try {
    connect();
  } finally {
    Object.assign(http2, { connect: original });
  }
}

/** The connection whose answers are corrected. */
interface Known {
  /** Whether the server has announced its end, or the fetcher has closed it. */
  readonly isGone: boolean;
  /** Takes the request whose stream is being opened. */
  takeStarting(): Dispatcher.DispatchController | undefined;
  /** Called when the server wants requests over HTTP/1.1. */
  requireHttp1(): void;
  /** Called when the connection must not get any further requests. */
  retire(): void;
}

/**
 * Corrects how Node.js and undici handle answers over an HTTP/2 connection. It relies on undici's internals, so undici is pinned:
 * `test/unit/pinned/undici.test.ts`.
 *
 * - If the server cancels an answer midway, as a proxy does that loses its own server, its body ends with an error. It also does if the
 *   server resets the stream there without an error code. Node.js and undici would treat both as complete; any other code is an error to
 *   them too.
 * - An answer right before the server ends its connection is still read: see {@link OpenAnswers}.
 * - A request that the server refuses after announcing the end of the connection (RFC 9113, section 8.7) ends with an error, so that it
 *   is made on another one. undici would repeat it on a client that is destroyed, which throws where nobody can catch it.
 * - A server's refusal of HTTP/2, for one request or for all, is noted.
 * - Several `X-Robots-Tag` stay separate: each may be for another crawler.
 */
export function correctHttp2Answers(socket: Socket, known: Known): void {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'http2Session');
  const session = name && (socket as unknown as Readonly<Record<symbol, ClientHttp2Session | undefined>>)[name];
  if (!session) return;
  // Listens before undici, which then ends the requests.
  session.prependListener('goaway', (code) => {
    if (code === constants.NGHTTP2_HTTP_1_1_REQUIRED) known.requireHttp1();
  });
  const open = new OpenAnswers(socket, () => known.retire());
  const request = session.request.bind(session);
  session.request = (headers, options) => {
    const stream = request(headers, options);
    const starting = known.takeStarting();
    const unsent = (): void => {
      if (known.isGone)
        starting?.abort(Object.assign(new Error('The server is closing the connection'), { code: GONE }));
    };
    const refused = (): void => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) unsent();
      if (stream.rstCode === constants.NGHTTP2_HTTP_1_1_REQUIRED) known.requireHttp1();
    };
    open.add(stream);
    notePieces(stream, open);
    // Listens before undici, which listens to the same events.
    stream.once('end', failCancelled).once('response', separateTags).once('error', refused).once('frameError', unsent);
    return stream;
  };
}

const GONE = 'ERR_HTTP2_GOAWAY_SESSION';

/** Streams that the server reset before their end. */
const RESET = new WeakSet<ClientHttp2Stream>();

/** Notes the pieces of an answer. Node.js ends the body of a stream that is closed without an error, whether its last frame has come or not. */
function notePieces(stream: ClientHttp2Stream, open: OpenAnswers): void {
  const push = stream.push.bind(stream);
  let isEnded = false;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !isEnded) {
      isEnded = true;
      if (stream.closed) RESET.add(stream);
    }
    open.note(stream, chunk === null && !stream.closed);
    return push(chunk, encoding);
  };
}

function failCancelled(this: ClientHttp2Stream): void {
  if (this.rstCode !== constants.NGHTTP2_CANCEL && !RESET.has(this)) return;
  const message = 'The server cancelled the answer midway';
  this.emit('error', Object.assign(new Error(message), { code: 'ERR_HTTP2_STREAM_CANCEL' }));
}

/** @param lines names and values alternately, as received */
function separateTags(headers: IncomingHttpHeaders, _flags: number, lines: readonly string[]): void {
  if (headers['x-robots-tag'] === undefined) return;
  headers['x-robots-tag'] = lines.filter((_, index) => index % 2 === 1 && lines[index - 1] === 'x-robots-tag');
}
