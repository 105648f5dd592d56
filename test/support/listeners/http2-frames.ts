import { once } from 'node:events';
import { createServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { FetcherOptions } from '../../../shared/fetchers/fetcher-options.ts';
import { UndiciFetcher } from '../../../shared/fetchers/undici/fetcher.ts';
import type { PageHold } from '../../../shared/ports/fetcher.ts';
import { allowing } from '../allowing.ts';
import { selfSigned } from '../site/certificate.ts';

/** Types of frames (RFC 9113 section 6). */
export const [DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 4, 6, 7, 8] as const;
export const [END_STREAM, END_HEADERS] = [1, 4] as const;
const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
/** `:status: 200` (RFC 7541 appendix A). */
export const OK = Buffer.of(0x88);

export function frame(type: number, flags: number, stream: number, content: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(content.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
}

/** An answer whose body comes in these pieces. */
export function answer(stream: number, ...pieces: readonly string[]): Buffer {
  const frames = pieces.map((piece, index) =>
    frame(DATA, index === pieces.length - 1 ? END_STREAM : 0, stream, Buffer.from(piece)),
  );
  return Buffer.concat([frame(HEADERS, END_HEADERS, stream, OK), ...frames]);
}

/** The end of a connection: none of the requests on streams above `last` were processed. */
export function goaway(last: number): Buffer {
  return frame(GOAWAY, 0, 0, Buffer.of(0, 0, 0, last, 0, 0, 0, 0));
}

/** Opens a server of HTTP/2 that calls `onRequest` with the stream of each request, and a fetcher for it. */
export async function openFrameServer(
  onRequest: (socket: TLSSocket, stream: number) => void,
  options: Partial<FetcherOptions> = {},
) {
  const sockets: TLSSocket[] = [];
  const server = createServer({ ...selfSigned, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    let read = Buffer.alloc(0);
    let at = PREFACE_BYTES;
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      while (read.length >= at + FRAME_HEAD_BYTES) {
        if (read[at + 3] === HEADERS) onRequest(socket, read.readUInt32BE(at + 5));
        at += FRAME_HEAD_BYTES + read.readUIntBE(at, 3);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fetcher = new UndiciFetcher({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/1',
    allowedPrivate: allowing('127.0.0.0/8'),
    ...options,
  });
  onTestFinished(async () => {
    await fetcher.stop();
    // Not before its connections are closed: one that the fetcher leaks fails the test.
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  const fetch = (path: string, hold?: PageHold) =>
    fetcher.fetch({ url: `https://127.0.0.1:${port}${path}`, maxBodyBytes: 1_000_000, ...(hold && { hold }) });
  return { fetch, sockets };
}
