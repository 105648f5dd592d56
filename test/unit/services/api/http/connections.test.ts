import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { noteAnswers } from '../../../../../services/api/http/answers-under-way.ts';
import { boundConnections } from '../../../../../services/api/http/connections.ts';
import type { Api } from '../../../../../services/api/parts.ts';

/** A server with at most three connections, one of whose routes never answers. */
async function setup() {
  const app = Fastify({ forceCloseConnections: true }) as unknown as Api;
  boundConnections(app, 3);
  noteAnswers(app);
  app.get('/', async () => 'there');
  app.get('/never', () => new Promise(() => {}));
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as { port: number };
  const open = async (localAddress = '127.0.0.1', path?: string): Promise<Socket> => {
    const accepted = once(app.server, path === undefined ? 'connection' : 'request');
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    onTestFinished(() => void socket.destroy());
    if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await accepted;
    return socket.resume();
  };
  return { open };
}

test('a further connection takes the place of the one of its address that has been idle for longest', async () => {
  const { open } = await setup();
  const busy = await open('127.0.0.1', '/never');
  const [second, third] = [await open(), await open()];
  const used = once(second, 'data');
  second.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await used;
  const closed = once(third, 'close');
  const fourth = await open();
  await closed;
  expect([busy.closed, second.closed, fourth.closed]).toEqual([false, false, false]);
});

test('an address that leaves many connections idle loses its own, not those of others', async () => {
  const { open } = await setup();
  const other = await open('127.0.0.2');
  const [first] = [await open(), await open()];
  const closed = once(first, 'close');
  await open();
  await closed;
  const again = await open();
  expect([other.closed, again.closed]).toEqual([false, false]);
});

test('if all have answers under way, the new one is cut off', async () => {
  const { open } = await setup();
  const busy = [
    await open('127.0.0.1', '/never'),
    await open('127.0.0.1', '/never'),
    await open('127.0.0.1', '/never'),
  ];
  await once(await open(), 'close');
  expect(busy.map(({ closed }) => closed)).toEqual([false, false, false]);
});
