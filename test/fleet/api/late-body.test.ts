import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openApi } from '../../support/processes/api-process.ts';
import { openFleet } from '../../support/processes/fleet.ts';

const HALF =
  'POST /api/forget HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"all"';

test('a request body that stalls is given up with a 408 after half a minute', { timeout: 60_000 }, async () => {
  const { workplace } = await openFleet({ pages: 1 });
  const { url } = await openApi(workplace);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const began = performance.now();
  socket.write(HALF);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"timeout"}$/);
  expect((performance.now() - began) / 1_000).toBeLessThan(45);
});
