import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
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

test('an idle connection is kept for longer than load balancers keep theirs', async () => {
  const { ask } = await openApi();
  const [, seconds] = /timeout=(\d+)/.exec((await ask('/healthz')).headers.get('keep-alive') ?? '') ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});
