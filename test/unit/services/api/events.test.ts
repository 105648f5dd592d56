import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import { SESSION_COOKIE, Sessions } from '../../../../services/api/access/sessions.ts';
import { Tokens } from '../../../../services/api/access/tokens.ts';
import type { FleetFeed } from '../../../../services/api/feed.ts';
import { ANSWER_HEADERS } from '../../../../services/api/http/answer-headers.ts';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addEventRoutes } from '../../../../services/api/routes/events.ts';
import { type Clock, systemClock } from '../../../../shared/runtime/clock.ts';
import { SECOND_MS } from '../../../../shared/task/durations.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

type Listener = Parameters<FleetFeed['listen']>[0];

/** The event route over a feed that a test feeds. */
async function setup({
  clock = systemClock,
  tokens = Tokens.read([], 'a test'),
  sessions = new Sessions(tokens, clock),
}: {
  readonly clock?: Clock;
  readonly tokens?: Tokens;
  readonly sessions?: Sessions;
} = {}) {
  const listeners = new Set<Listener>();
  const feed = {
    get listeners() {
      return listeners.size;
    },
    listen: (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const app = Fastify({ forceCloseConnections: true }) as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  addEventRoutes(app, { feed, clock, sessions, tokens } as unknown as ApiParts);
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as { port: number };
  const tell: Listener = (event, data) => {
    for (const listener of listeners) listener(event, data);
  };
  return { app, port, listeners, tell };
}

test('for a listener that does not read, at most the events of one look wait; it gets later ones again', async () => {
  const { app, port, listeners, tell } = await setup();
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const answered = once(app.server, 'request') as Promise<[unknown, ServerResponse]>;
  socket.pause().write('GET /api/events?run=r1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [, response] = await answered;
  await expect.poll(() => listeners.size).toBe(1);
  const much = 'x'.repeat(2 ** 20);
  // Data in the system's own buffers does not count as waiting.
  for (let look = 0; look < 40; look++) {
    tell('fleet', much);
    tell('run', much);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(response.writableLength).toBeGreaterThan(0);
  expect(response.writableLength).toBeLessThan(2.1 * 2 ** 20);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text = (text + chunk).slice(-1_000);
  });
  socket.resume();
  await expect.poll(() => response.writableLength).toBe(0);
  tell('fleet', '"newer"');
  tell('run', '"its run"');
  await expect.poll(() => text).toMatch(/event: fleet\ndata: "newer"[\s\S]*event: run\ndata: "its run"/);
});

test('a listener that reads nothing for two minutes loses its place; one that reads keeps its own', async () => {
  const clock = new SteppedClock();
  const { app, port, listeners, tell } = await setup({ clock });
  const answers: ServerResponse[] = [];
  app.server.on('request', (_, answer) => answers.push(answer));
  const [reading, stuck] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  onTestFinished(() => [reading, stuck].forEach((socket) => void socket.destroy()));
  for (const socket of [reading, stuck]) socket.write('GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  reading.resume();
  stuck.pause();
  await expect.poll(() => listeners.size).toBe(2);
  // More than the system's own buffers hold.
  for (let look = 0; look < 40; look++) {
    tell('fleet', 'x'.repeat(2 ** 20));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const waiting = () => answers.map(({ writableLength }) => writableLength > 0).sort();
  await expect.poll(waiting).toEqual([false, true]);
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 15) {
      tell('fleet', '"short"');
      clock.step(15 * SECOND_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(90);
  expect(listeners.size).toBe(2);
  await pass(60);
  await expect.poll(() => listeners.size).toBe(1);
  expect(reading.closed).toBe(false);
});

test('a stream ends with the session that requested it, also when that ends early', async () => {
  const tokens = Tokens.read(['a:admin:admin-admin-admin-1'], 'a test');
  const sessions = new Sessions(tokens, systemClock);
  const { port, listeners, tell } = await setup({ tokens, sessions });
  const cookie = `${SESSION_COOKIE}=${sessions.begin({ name: 'a', role: 'admin' })}`;
  const { body } = await fetch(`http://127.0.0.1:${port}/api/events`, { headers: { cookie } });
  await expect.poll(() => listeners.size).toBe(1);
  tell('fleet', '"before"');
  sessions.end(cookie);
  tell('fleet', '"after"');
  const text = await new Response(body).text();
  expect(text).toContain('before');
  expect(text).not.toContain('after');
  expect(listeners.size).toBe(0);
});

test('a HEAD is answered at once and takes no place of a listener', async () => {
  const { port, listeners } = await setup();
  const { status, headers } = await fetch(`http://127.0.0.1:${port}/api/events`, {
    method: 'HEAD',
    signal: AbortSignal.timeout(5_000),
  });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  // As with any other answer.
  expect(Object.fromEntries(headers)).toMatchObject(ANSWER_HEADERS);
  expect(listeners.size).toBe(0);
});

test('a session that has its share of streams gets 429, and a place again once one of its streams has ended', async () => {
  const tokens = Tokens.read(['a:admin:admin-admin-admin-1', 'b:read:reader-reader-reader'], 'a test');
  const sessions = new Sessions(tokens, systemClock);
  const { port, listeners } = await setup({ tokens, sessions });
  const cookieOf = (name: string) => `${SESSION_COOKIE}=${sessions.begin({ name, role: 'read' })}`;
  const cookie = cookieOf('a');
  const leaving = new AbortController();
  const open = (header: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/api/events`, { headers: { cookie: header }, ...(signal ? { signal } : {}) });
  await open(cookie, leaving.signal);
  for (let nth = 1; nth < 20; nth++) await open(cookie);
  expect((await open(cookie)).status).toBe(429);
  expect((await open(cookieOf('b'))).status).toBe(200);
  leaving.abort();
  await expect.poll(() => listeners.size).toBe(20);
  expect((await open(cookie)).status).toBe(200);
});
