import { afterAll, beforeAll, expect, test } from 'vitest';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import { PageHold } from '../../../../../shared/ports/fetcher.ts';
import { trustOurs } from '../../../../contract/suites/fetcher/proxy-setup.ts';
import {
  answer,
  DATA,
  END_HEADERS,
  frame,
  goaway,
  HEADERS,
  OK,
  openFrameServer,
  SETTINGS,
} from '../../../../support/listeners/http2-frames.ts';

beforeAll(() => trustOurs(true));
afterAll(() => trustOurs(false));

test.each([
  ['without a GOAWAY', []],
  ['with a GOAWAY', [goaway(1)]],
])('an answer is complete even if its server ends the connection with it, %s', async (_, last) => {
  const { fetch, sockets } = await openFrameServer((socket, stream) => {
    // What the client answers to this is still being written when the answer comes.
    socket.write(frame(SETTINGS, 0, 0));
    socket.end(Buffer.concat([answer(stream, 'well'), ...last]));
  });
  for (let n = 1; n <= 10; n++) expect(Buffer.from((await fetch(`/${n}`)).body).toString()).toBe('well');
  expect(sockets.length).toBe(10);
});

test('an answer cut off by the end of its connection fails, but a complete one on that connection succeeds', async () => {
  const { fetch } = await openFrameServer((socket, stream) => {
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
  const { fetch, sockets } = await openFrameServer(
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
  expect(sockets.length).toBe(1);
});

test('requests that a GOAWAY leaves unprocessed share one new connection', async () => {
  const asked: number[] = [];
  const { fetch, sockets } = await openFrameServer((socket, stream) => {
    asked.push(stream);
    if (socket !== sockets[0] || stream === 1)
      socket.write(Buffer.concat([frame(SETTINGS, 0, 0), answer(stream, 'well')]));
    else if (asked.length === 21) socket.end(goaway(1));
  });
  await fetch('/1');
  const pages = await Promise.all(Array.from({ length: 20 }, (_, n) => fetch(`/page/${n}`)));
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
  expect(sockets.length).toBe(2);
});
