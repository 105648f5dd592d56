import { describe, expect, test } from 'vitest';
import { flood } from '../../../support/hostile/flood.ts';
import type { Setup } from './setup.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n';
/** A flood's connection ends long before its request would be late. */
const TIMEOUT_MS = 30_000;

/** Bytes that belong to no answer (see `shared/fetchers/flood-watch.ts`). */
export function describeFloods(setup: Setup): void {
  describe('floods', () => {
    test.concurrent.each([
      ['interim answers', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['empty lines before its answer', '', '\r\n'],
      ['the length of a chunk', CHUNKED, '0'],
      ['the extension of a chunk', `${CHUNKED}5;`, 'x'],
    ])(
      'a server that sends nothing but %s is cut off within seconds',
      { timeout: TIMEOUT_MS },
      async (_, head, piece) => {
        const { fetch, site } = await setup({ timeoutMs: TIMEOUT_MS });
        site.on('/flood', ({ socket }) => {
          socket.write(head);
          void flood(socket, Buffer.from(piece.repeat(65_536 / piece.length)));
        });
        await expect(fetch('/flood')).rejects.toMatchObject({ reason: 'connection' });
      },
    );

    test('a body in chunks of a byte is no flood', { timeout: TIMEOUT_MS }, async () => {
      const { fetch, site } = await setup({ timeoutMs: TIMEOUT_MS });
      const chunks = '1;abcdefghijklmnopqrstuvwxyz\r\nx\r\n'.repeat(300_000);
      site.on('/bytes', ({ socket }) => void socket.write(`${CHUNKED}${chunks}0\r\n\r\n`));
      expect((await fetch('/bytes')).body.length).toBe(300_000);
    });
  });
}
