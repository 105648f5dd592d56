import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BodyMemory } from '../../../../shared/fetchers/body-memory.ts';
import { type FetchedPage, PageHold } from '../../../../shared/ports/fetcher.ts';
import type { Setup } from './setup.ts';

const BODY = '<title>Not here</title>';
const takes = (status: number): boolean => status !== 403;

function text({ body }: FetchedPage): string {
  return Buffer.from(body).toString();
}

/** Errors that the caller takes as pages. */
export function describeTakenErrors(setup: Setup): void {
  describe('errors taken as pages', () => {
    test.each([404, 410, 429, 500, 503, 599])(
      'the body of a %i that the caller takes is read and decoded',
      async (status) => {
        const { fetch, site } = await setup();
        const body = gzipSync(BODY);
        site.on('/gone', (_, response) => {
          response.writeHead(status, { 'content-encoding': 'gzip', 'content-type': 'text/html', 'retry-after': '7' });
          response.end(body);
        });
        const page = await fetch('/gone', { takes });
        expect([page.status, text(page), page.headers['retry-after'], page.unread]).toEqual([
          status,
          BODY,
          '7',
          undefined,
        ]);
        expect(text(await fetch('/gone'))).toBe('');
      },
    );

    test('the body of an error that the caller doesn’t take is left unread', async () => {
      const { fetch, site } = await setup();
      site.on('/closed', (_, response) => response.writeHead(403).end(BODY));
      expect(await fetch('/closed', { takes })).toMatchObject({ status: 403, body: new Uint8Array() });
    });

    test('`takes` is asked about errors only, never about a page or a redirect', async () => {
      const { fetch } = await setup();
      const asked: number[] = [];
      const paths = ['/page/1', '/status/304', '/redirect/1', '/status/399', '/status/400', '/status/503'];
      for (const path of paths) await fetch(path, { takes: (status) => asked.push(status) > 0 });
      expect(asked).toEqual([400, 503]);
    });

    test('a HEAD that is answered with an error has no body', async () => {
      const { fetch } = await setup();
      const send = { method: 'HEAD', headers: {}, mayRepeat: true } as const;
      const page = await fetch('/not-here', { takes, send });
      expect([page.status, page.body.length, page.unread]).toEqual([404, 0, undefined]);
    });

    // biome-ignore format: a table
    test.each([
      ['of an unwanted type', { 'content-type': 'video/mp4' }, 'frame', 'content_type'],
      ['in an unknown coding', { 'content-encoding': 'compress' }, 'frame', 'encoding'],
      ['in a broken coding', { 'content-encoding': 'gzip' }, 'frame', 'encoding'],
      ['of more bytes than allowed', { 'content-length': '2000' }, 'x'.repeat(2_000), 'size'],
      ['of more bytes than allowed, without saying so', { 'transfer-encoding': 'chunked' }, 'x'.repeat(2_000), 'size'],
      ['that breaks off', { 'content-length': '100' }, 'only this', 'connection'],
    ] as const)('an error with a body %s counts with its status and headers, and the reason is in `unread`', async (_, headers, body, reason) => {
      const bodyMemory = new BodyMemory(300_000);
      const { fetch, site } = await setup({ bodyMemory });
      site.on('/bad', (_request, response) => {
        response.writeHead(429, { 'retry-after': '7', ...headers });
        response.write(body, () => (reason === 'connection' ? response.socket?.destroy() : response.end()));
      });
      const accepts = (type: string | undefined): boolean => type === undefined;
      const hold = new PageHold();
      const page = await fetch('/bad', { takes, accepts, hold, maxBodyBytes: 1_000 });
      expect(page).toMatchObject({ status: 429, headers: { 'retry-after': '7' }, body: new Uint8Array() });
      expect(page.unread).toMatchObject({ reason, status: 429 });
      hold.end();
      expect([bodyMemory.usedBytes, bodyMemory.waiting]).toEqual([0, 0]);
    });

    test('an error whose body takes too long counts with its status', async () => {
      const { fetch, site } = await setup({ timeoutMs: 300 });
      site.on('/stuck', (_, response) => response.writeHead(503, { 'retry-after': '7' }).write('the first words'));
      const page = await fetch('/stuck', { takes });
      expect([page.status, page.headers['retry-after'], page.unread?.reason]).toEqual([503, '7', 'timeout']);
    });

    test('the body of a taken error is held in the memory for bodies until the hold ends', async () => {
      const bodyMemory = new BodyMemory(300_000);
      const { fetch, site } = await setup({ bodyMemory });
      site.on('/gone', (_, response) => response.writeHead(404).end('x'.repeat(5_000)));
      const hold = new PageHold();
      await fetch('/gone', { takes, hold });
      expect(bodyMemory.usedBytes).toBeGreaterThanOrEqual(5_000);
      hold.end();
      expect(bodyMemory.usedBytes).toBe(0);
    });
  });
}
