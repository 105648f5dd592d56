import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import { Tokens } from '../../../../services/api/access/tokens.ts';
import type { FleetFeed } from '../../../../services/api/feed.ts';
import type { Api, ApiParts } from '../../../../services/api/parts.ts';
import { addEventRoutes } from '../../../../services/api/routes/events.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';

type Listener = Parameters<FleetFeed['listen']>[0];

/** The event route over a feed that a test feeds. */
async function setup() {
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
  addEventRoutes(app, { feed, clock: systemClock, tokens: Tokens.read([], 'a test') } as unknown as ApiParts);
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

test('a HEAD is answered at once and takes no place of a listener', async () => {
  const { port, listeners } = await setup();
  const { status, headers } = await fetch(`http://127.0.0.1:${port}/api/events`, {
    method: 'HEAD',
    signal: AbortSignal.timeout(5_000),
  });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(listeners.size).toBe(0);
});
