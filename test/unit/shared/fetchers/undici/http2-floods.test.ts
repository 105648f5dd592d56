import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trustOurs } from '../../../../contract/suites/fetcher/proxy-setup.ts';
import { flood } from '../../../../support/hostile/flood.ts';
import {
  answer,
  DATA,
  END_HEADERS,
  frame,
  HEADERS,
  OK,
  openFrameServer,
  PING,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../../../support/listeners/http2-frames.ts';

beforeAll(() => trustOurs(true));
afterAll(() => trustOurs(false));

/** Frames that Node.js lets a server send without end. It ends a connection with more unanswered PING frames itself. */
const FLOODS: readonly (readonly [name: string, frame: Buffer, count: number])[] = [
  ['PING', frame(PING, 0, 0, Buffer.alloc(8)), 500],
  ['WINDOW_UPDATE', frame(WINDOW_UPDATE, 0, 0, Buffer.of(0, 0, 0, 1)), 2_000],
  ['empty DATA', frame(DATA, 0, 1), 2_000],
];

test.each(FLOODS)(
  'a connection without requests is closed when it is flooded with %s frames',
  async (_, one, count) => {
    const { fetch, sockets } = await openFrameServer((socket, stream) => {
      socket.write(Buffer.concat([frame(SETTINGS, 0, 0), answer(stream, 'well')]));
    });
    await fetch('/1');
    const before = performance.now();
    await flood(sockets[0] as TLSSocket, Buffer.concat(Array.from({ length: count }, () => one)));
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(Buffer.from((await fetch('/2')).body).toString()).toBe('well');
  },
);

test('a request whose answer is drowned in a flood fails with `connection` long before it is late', async () => {
  const frames = Buffer.concat(Array.from({ length: 500 }, () => frame(PING, 0, 0, Buffer.alloc(8))));
  const { fetch } = await openFrameServer(
    (socket, stream) => {
      socket.write(Buffer.concat([frame(SETTINGS, 0, 0), frame(HEADERS, END_HEADERS, stream, OK)]));
      void flood(socket, frames);
    },
    { timeoutMs: 4_000 },
  );
  await expect(fetch('/1')).rejects.toMatchObject({ reason: 'connection' });
});
