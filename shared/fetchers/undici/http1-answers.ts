import type { Socket } from 'node:net';

const [CR, LF] = [0x0d, 0x0a] as const;

/** Undocumented parts of undici's parser of answers. */
export interface Parser {
  readonly llhttp: Readonly<Record<string, (parser: number, isLenient: 1) => void>>;
  readonly ptr: number;
  /** Status of the answer whose head is in; 0 before that. */
  readonly statusCode: number;
  /** Value of the latest `Content-Length`; -1 without one. */
  contentLength: number;
  /** Called with the value of a header, or of a trailer. */
  onHeaderValue(value: Buffer): number;
}

export function parserOf(socket: Socket): Parser | undefined {
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  return name && (socket as unknown as Readonly<Record<symbol, Parser | undefined>>)[name];
}

/**
 * Corrects how undici handles answers over a plain connection. It relies on undici's internals, so undici is pinned:
 * `test/unit/pinned/undici.test.ts`.
 *
 * - A `Content-Length` among the trailers says nothing about the body (RFC 9110 section 6.5.1). undici would compare the two.
 * - Bytes behind the end of an answer are reported even if the connection ends with it. undici would drop them. Empty lines don't count
 *   (RFC 9112 section 2.2).
 *
 * @param onSurplus called before the microtask after the answer's end
 */
export function correctHttp1Answers(socket: Socket, onSurplus: () => void): void {
  const parser = parserOf(socket);
  if (parser === undefined) return;
  const onHeaderValue = parser.onHeaderValue.bind(parser);
  parser.onHeaderValue = (value) => {
    const { contentLength, statusCode } = parser;
    const result = onHeaderValue(value);
    if (statusCode >= 200) parser.contentLength = contentLength;
    return result;
  };
  const unshift = socket.unshift.bind(socket);
  // undici gives back the bytes that its parser hasn't read.
  socket.unshift = (chunk: Buffer) => {
    if (socket.destroyed && chunk.some((byte) => byte !== CR && byte !== LF)) onSurplus();
    unshift(chunk);
  };
}
