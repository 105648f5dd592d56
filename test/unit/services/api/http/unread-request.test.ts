import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openApi } from '../setup.ts';

const HALF =
  'POST /api/forget HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"all"';
const BAD_CHUNK = 'POST /api/forget HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnix\r\n';

test.each([
  ['not HTTP', 'NIX nix\r\n\r\n'],
  ['a body that ends half-way', HALF],
  ['a chunk without a length', BAD_CHUNK],
])('%s gets a problem like any other request, and the connection ends', async (_, sent) => {
  const { ask, server } = await openApi();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.end(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(head).toMatch(/^content-type: application\/problem\+json$/m);
  expect(head).toMatch(/^content-security-policy: default-src 'none'/m);
  expect(JSON.parse(body)).toEqual({
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: 'the request is not valid HTTP, or incomplete',
    code: 'usage',
  });
  expect((await ask('/api/audit')).json.entries).toEqual([]);
});

const EXPECTING = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: something\r\n\r\n';

test.each([
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'usage'],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400, 'usage'],
  ['an unknown expectation', EXPECTING, 417, 'expectation_failed'],
  [
    'long headers',
    `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
])('a request with %s gets a problem', async (_, sent, status, code) => {
  const { server } = await openApi();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.end(sent);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toMatch(/^content-type: application\/problem\+json/m);
  expect(head).toMatch(/^content-security-policy: default-src 'none'/m);
  expect(JSON.parse(body)).toMatchObject({ status, code });
});

test.each([
  ['of HTTP/1.0 without Host', 'GET /healthz HTTP/1.0\r\n\r\n'],
  ['that expects 100-continue', EXPECTING.replace('something', '100-Continue')],
])('a request %s is served', async (_, sent) => {
  const { server } = await openApi();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.end(sent);
  expect(await text(socket)).toContain('HTTP/1.1 200 OK');
});

const SMALL = '{"run":"r1","seeds":[]}';
const OPEN = `POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${SMALL.length}\r\n\r\n`;
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

test.each([
  ['a body longer than announced', `${OPEN}${SMALL}}`, ['202 Accepted']],
  ['requests at once, the last of them unreadable', `${HEALTH}${HEALTH}NIX nix\r\n\r\n`, ['200 OK', '200 OK']],
])('%s: what was read in full gets its own answer, and the connection ends', async (_, sent, statuses) => {
  const { server } = await openApi();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(sent);
  const got = (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+ \w+/g);
  expect(got).toEqual(statuses);
});

test('however much comes that cannot be read, the connection waits once for the answer under way', async () => {
  const { server } = await openApi();
  const warned: string[] = [];
  const onWarning = ({ name }: Error): void => void warned.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const body = '{"urls":["http://127.0.0.1:9/"],"timeout":1}';
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  const type = 'Content-Type: application/json';
  socket.write(
    `POST /api/crawl/batch HTTP/1.1\r\nHost: localhost\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  for (let piece = 0; piece < 100; piece++)
    await new Promise((resolve) => socket.write('NIX nix\r\n\r\n', () => setImmediate(resolve)));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(warned).toEqual([]);
});

test('nothing is written into a stream of events', async () => {
  const { server } = await openApi();
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  socket.write('NIX nix\r\n\r\n');
  expect(await text(socket)).not.toContain('HTTP/1.1');
});

test('an idle connection is kept for longer than load balancers keep theirs', async () => {
  const { ask } = await openApi();
  const [, seconds] = /timeout=(\d+)/.exec((await ask('/healthz')).headers.get('keep-alive') ?? '') ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});
