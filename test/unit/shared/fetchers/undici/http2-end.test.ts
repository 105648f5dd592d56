import { once } from 'node:events';
import { createServer, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import type { FetcherOptions } from '../../../../../shared/fetchers/fetcher-options.ts';
import { UndiciFetcher } from '../../../../../shared/fetchers/undici/fetcher.ts';
import { PageHold } from '../../../../../shared/ports/fetcher.ts';
import { trustOurs } from '../../../../contract/suites/fetcher/proxy-setup.ts';
import { allowing } from '../../../../support/allowing.ts';
import { selfSigned } from '../../../../support/site/certificate.ts';

/** Types of frames (RFC 9113 section 6). */
const [DATA, HEADERS, SETTINGS, GOAWAY] = [0, 1, 4, 7] as const;
const [END_STREAM, END_HEADERS] = [1, 4] as const;
const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
/** `:status: 200` (RFC 7541 appendix A). */
const OK = Buffer.of(0x88);

function frame(type: number, flags: number, stream: number, content: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(content.length, 0, 3);
  head.set([type, flags], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
}

/** An answer whose body comes in these pieces. */
function answer(stream: number, ...pieces: readonly string[]): Buffer {
  const frames = pieces.map((piece, index) =>
    frame(DATA, index === pieces.length - 1 ? END_STREAM : 0, stream, Buffer.from(piece)),
  );
  return Buffer.concat([frame(HEADERS, END_HEADERS, stream, OK), ...frames]);
}

/** A server of HTTP/2 that calls `onRequest` with the stream of each request, and a fetcher for it. */
async function setup(onRequest: (socket: TLSSocket, stream: number) => void, options: Partial<FetcherOptions> = {}) {
  let connections = 0;
  const server = createServer({ ...selfSigned, ALPNProtocols: ['h2'] }, (socket) => {
    connections += 1;
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
  return { fetch, connections: () => connections };
}

beforeAll(() => trustOurs(true));
afterAll(() => trustOurs(false));

const GOES_AWAY = frame(GOAWAY, 0, 0, Buffer.of(0, 0, 0, 1, 0, 0, 0, 0));

test.each([
  ['without a GOAWAY', []],
  ['with a GOAWAY', [GOES_AWAY]],
])('an answer is complete even if its server ends the connection with it, %s', async (_, last) => {
  const { fetch, connections } = await setup((socket, stream) => {
    // What the client answers to this is still being written when the answer comes.
    socket.write(frame(SETTINGS, 0, 0));
    socket.end(Buffer.concat([answer(stream, 'well'), ...last]));
  });
  for (let n = 1; n <= 10; n++) expect(Buffer.from((await fetch(`/${n}`)).body).toString()).toBe('well');
  expect(connections()).toBe(10);
});

test('an answer cut off by the end of its connection fails, but a complete one on that connection succeeds', async () => {
  const { fetch } = await setup((socket, stream) => {
    if (stream === 1) socket.write(Buffer.concat([frame(SETTINGS, 0, 0), answer(stream, 'first')]));
    if (stream === 3) socket.write(frame(HEADERS, END_HEADERS, stream, OK));
    if (stream === 5) socket.end(Buffer.concat([frame(DATA, 0, 3, Buffer.from('we')), answer(stream, 'well')]));
  });
  await fetch('/1');
  const broken = expect(fetch('/2')).rejects.toMatchObject({ reason: 'connection', status: 200 });
  expect(Buffer.from((await fetch('/3')).body).toString()).toBe('well');
  await broken;
});

test('an answer that waits for memory when its connection ends is read once there is some', async () => {
  const bodyMemory = new BodyMemory(1_000);
  const pieces = Array.from({ length: 4 }, () => 'x'.repeat(10_000));
  const held = new PageHold();
  const { fetch, connections } = await setup(
    (socket, stream) => {
      if (stream === 1) socket.write(Buffer.concat([frame(SETTINGS, 0, 0), answer(stream, ...pieces)]));
      else socket.end(answer(stream, ...pieces));
    },
    { bodyMemory },
  );
  await fetch('/1', held);
  const waiting = fetch('/2');
  while (bodyMemory.waiting < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  held.end();
  expect((await waiting).body).toHaveLength(40_000);
  expect(connections()).toBe(1);
});
