import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { expect, onTestFinished, test } from 'vitest';
import type { Api, ApiParts } from '../../../../../services/api/parts.ts';
import { addHealthRoutes } from '../../../../../services/api/routes/health.ts';
import { openApi } from '../setup.ts';

/** A connection to an API, and the text of requests. */
async function setup() {
  const { server } = await openApi();
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket.on('error', () => {});
  };
  const requests = (path: string, count: number): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count);
  return { open, requests };
}

test('requests sent at once are all answered', async () => {
  const { open, requests } = await setup();
  const socket = await open();
  socket.end(requests('/healthz', 32));
  expect((await text(socket)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(32);
});

test('a connection that sends hundreds of requests at once is cut off', async () => {
  const { open, requests } = await setup();
  const socket = await open();
  socket.write(requests('/healthz', 500));
  const answers = (await text(socket).catch(() => '')).match(/HTTP\/1\.1 200 OK/g) ?? [];
  expect(answers.length).toBeLessThanOrEqual(32);
});

test('the OpenAPI document, which needs no token, is made once for all answers', async () => {
  let made = 0;
  const app = Fastify() as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorate('swagger', (() => ({ openapi: `made ${++made}` })) as never);
  addHealthRoutes(app, {} as ApiParts);
  onTestFinished(() => app.close());
  for (let nth = 0; nth < 3; nth++) expect((await app.inject('/openapi.json')).json()).toEqual({ openapi: 'made 1' });
});
