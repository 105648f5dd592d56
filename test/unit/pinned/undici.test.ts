import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { Client, type Dispatcher, errors } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { ALLOWED } from '../../../shared/fetchers/undici/lenient-parser.ts';
import { TestSite } from '../../support/site.ts';
import { versionsOf } from './package-files.ts';

const CONNECTION = 'shared/fetchers/undici/connection.ts';
const EXCHANGE = 'shared/fetchers/undici/exchange.ts';
const PARSER = 'shared/fetchers/undici/http1-answers.ts';

/** A site, a client that connects to it as ours do, and what a request's handler was told. */
async function setup({ gone }: { readonly gone?: boolean } = {}) {
  const site = new TestSite();
  await site.start();
  const sockets: Socket[] = [];
  let dials = 0;
  const client = new Client(site.origin, {
    connect: ({ hostname, port }, callback) => {
      dials += 1;
      if (gone) return callback(Object.assign(new Error('nobody there'), { code: 'ECONNREFUSED' }), null);
      const socket = net.connect({ host: hostname, port: Number(port) });
      sockets.push(socket);
      socket.once('connect', () => callback(null, socket));
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  onTestFinished(async () => {
    await client.destroy();
    await site.stop();
  });
  const told: string[] = [];
  const ended = Promise.withResolvers<void>();
  const handler = (more: Partial<Dispatcher.DispatchHandler> = {}): Dispatcher.DispatchHandler => ({
    onRequestStart: () => void told.push('start'),
    onResponseStart: (_, status, headers) => void told.push(`${status} ${headers['content-type']}`),
    onResponseData: () => void told.push('data'),
    onResponseEnd: () => {
      told.push('end');
      ended.resolve();
    },
    onResponseError: (_, error) => {
      told.push(`error ${'code' in error ? error.code : error.message}`);
      ended.resolve();
    },
    ...more,
  });
  const request = (path: string): Dispatcher.DispatchOptions => ({ path, method: 'GET', headers: ['accept', '*/*'] });
  return { site, client, sockets, told, ended: ended.promise, handler, request, dials: () => dials };
}

test('undici is pinned to the version whose inside is known', () => {
  const { asked, installed } = versionsOf('undici');
  expect(asked, `${CONNECTION} stands on how its clients behave: \`undici\` needs an exact version`).toBe(installed);
});

test('a handler is told in this order', async () => {
  const { client, handler, request, told, ended } = await setup();
  client.dispatch(request('/page/1'), handler());
  await ended;
  expect(told, `its calls have changed: correct ${EXCHANGE}`).toEqual([
    'start',
    '200 text/html; charset=utf-8',
    'data',
    'end',
  ]);
});

test('an abort tells the handler within the call, and ends the connection', async () => {
  const { client, sockets, handler, request, told } = await setup();
  const started = Promise.withResolvers<Dispatcher.DispatchController>();
  client.dispatch(request('/hang'), handler({ onRequestStart: (controller) => started.resolve(controller) }));
  const controller = await started.promise;
  controller.abort(new Error('enough'));
  expect(told, `the error comes later: ${EXCHANGE} then rejects too late, or twice`).toEqual(['error enough']);
  expect(sockets[0]?.destroyed, 'an aborted connection may be taken for a free one').toBe(true);
});

test('bytes behind the end of an answer have broken the socket by the next microtask', async () => {
  const { client, sockets, handler, request } = await setup();
  const broken = Promise.withResolvers<unknown>();
  const onResponseEnd = (): void => queueMicrotask(() => broken.resolve(sockets[0]?.errored));
  client.dispatch(request('/overlong'), handler({ onResponseEnd }));
  const message = `a body longer than its Content-Length is taken for a good one: see \`breakage\` in ${CONNECTION}`;
  expect(await broken.promise, message).toMatchObject({ code: 'UND_ERR_SOCKET' });
});

test('a connection that fails tells its request first, then `connectionError`; destroyed then, none is made again', async () => {
  const { client, handler, request, told, ended, dials } = await setup({ gone: true });
  client.once('connectionError', () => {
    told.push('connectionError');
    client.destroy(new Error('gone'), () => {});
  });
  client.dispatch(request('/page/1'), handler());
  await ended;
  expect(told).toEqual(['error ECONNREFUSED', 'connectionError']);
  expect(dials(), `it connects again by itself: ${CONNECTION} promises one connection`).toBe(1);
});

test('a connection that ends is `disconnect`; destroyed then, none is made again', async () => {
  const { client, sockets, handler, request, told, ended, dials, site } = await setup();
  client.dispatch(request('/page/1'), handler());
  await ended;
  const gone = once(client, 'disconnect');
  client.once('disconnect', () => client.destroy(new Error('gone'), () => {}));
  await site.stop();
  await gone;
  client.dispatch(request('/page/2'), handler());
  expect(told.at(-1), `${EXCHANGE} repeats what was not sent by this code`).toBe('error UND_ERR_DESTROYED');
  expect([dials(), sockets[0]?.destroyed]).toEqual([1, true]);
});

test('the codes that a lost connection has', () => {
  const codes = [new errors.SocketError(), new errors.InformationalError(), new errors.ClientDestroyedError()];
  expect(
    codes.map(({ code }) => code),
    `correct LOST in ${EXCHANGE}`,
  ).toEqual(['UND_ERR_SOCKET', 'UND_ERR_INFO', 'UND_ERR_DESTROYED']);
});

test('the parser of a connection is made strict, and can be made lenient', async () => {
  const { client, sockets, handler, request, ended } = await setup();
  client.dispatch(request('/page/1'), handler());
  await ended;
  const [socket] = sockets as unknown as Record<symbol, Record<string, unknown>>[];
  const name = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  const parser = socket?.[name as symbol];
  const told = `${PARSER} changes it`;
  const [number, method] = [expect.any(Number), expect.any(Function)];
  expect(parser, told).toMatchObject({ ptr: number, statusCode: number, contentLength: number, onHeaderValue: method });
  const flags = Object.keys(parser?.llhttp as object).filter((each) => each.startsWith('llhttp_set_lenient_'));
  expect(flags.sort(), told).toEqual(ALLOWED.map((each) => `llhttp_set_lenient_${each}`).sort());
});
