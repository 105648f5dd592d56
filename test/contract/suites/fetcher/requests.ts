import { describe, expect, test } from 'vitest';
import { FetchError, RequestTimings } from '../../../../shared/ports/fetcher.ts';
import type { SentRequest } from '../../../../shared/task/task/request.ts';
import type { TestSite } from '../../../support/site.ts';
import type { Setup } from './setup.ts';

/** Has a path answer with what it was sent. */
function echo(site: TestSite, path: string): void {
  site.on(path, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      const { method, headers } = request;
      const { 'content-type': type, 'content-length': length, 'x-own': own, accept } = headers;
      const body = Buffer.concat(pieces).toString();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ method, type, length, own, accept, body }));
    });
  });
}

const POST: SentRequest = { method: 'POST', body: 'ä=1', headers: { 'content-type': 'text/x' }, mayRepeat: false };

/** Requests with another method, a body, or headers of their own. */
export function describeRequests(setup: Setup): void {
  describe('requests', () => {
    // biome-ignore format: a table
    test.each<[SentRequest, object]>([
      [POST,                                                                     { method: 'POST', type: 'text/x', length: '4', body: 'ä=1' }],
      [{ method: 'POST', mayRepeat: false },                                     { method: 'POST', length: '0', body: '' }],
      [{ method: 'PUT', body: '{}', mayRepeat: true },                           { method: 'PUT', length: '2', body: '{}' }],
      [{ method: 'PATCH', body: 'x', mayRepeat: true },                          { method: 'PATCH', length: '1', body: 'x' }],
      [{ method: 'DELETE', mayRepeat: true },                                    { method: 'DELETE', body: '' }],
      [{ method: 'OPTIONS', mayRepeat: true },                                   { method: 'OPTIONS', body: '' }],
      [{ method: 'GET', headers: { 'x-own': 'a', accept: 'b' }, mayRepeat: true }, { method: 'GET', own: 'a', accept: 'b', body: '' }],
    ])('%o arrives as it is', async (send, arrived) => {
      const { site, fetch } = await setup();
      echo(site, '/echo');
      const { status, body } = await fetch('/echo', { send });
      expect(status).toBe(200);
      expect(JSON.parse(Buffer.from(body).toString())).toMatchObject(arrived);
    });

    test.each(['/path?', '/path?#part', '/path', '/path#part?', '//path//', '/path?a=b?', '/100%'])(
      'the path and query of %s are asked for as they are',
      async (target) => {
        const { site, fetch } = await setup();
        await fetch(target);
        expect(site.requests.map(({ path }) => path)).toEqual([target.replace(/#.*/, '')]);
      },
    );

    test('the answer to a HEAD has no body, whatever its headers say', async () => {
      const { site, fetch } = await setup();
      const send = { method: 'HEAD', mayRepeat: true } as const;
      const large = { 'content-length': '5000000', 'content-encoding': 'compress' };
      site.on('/large', (_, response) => void response.writeHead(200, large).end());
      const answer = await fetch('/large', { send });
      expect([answer.status, answer.body.byteLength, site.requests[0]?.method]).toEqual([200, 0, 'HEAD']);
      expect(answer.headers).toMatchObject(large);
      // Some servers send one all the same.
      site.on('/body', ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell'));
      expect((await fetch('/body', { send })).body).toHaveLength(0);
    });

    test('a connection that is cut is not tried again when the request may not be repeated', async () => {
      const { site, fetch } = await setup();
      await fetch('/page/1');
      site.on('/cut', (request) => void request.socket.destroy());
      const timings = new RequestTimings();
      await expect(fetch('/cut', { send: POST, timings })).rejects.toMatchObject({ reason: 'connection' });
      expect([site.count('/cut'), timings.isSent]).toEqual([1, true]);
    });

    test('a kept connection that is cut is made anew for one that may be repeated', async () => {
      const { site, fetch } = await setup();
      await fetch('/page/1');
      let asked = 0;
      site.on('/cut', (request, response) => {
        asked++;
        if (asked === 1) request.socket.destroy();
        else response.end('again');
      });
      const answer = await fetch('/cut', { send: { ...POST, mayRepeat: true } });
      expect([asked, Buffer.from(answer.body).toString()]).toEqual([2, 'again']);
    });

    test('what never reached a host is not sent', async () => {
      const { site, fetcher } = await setup();
      const port = site.port;
      const timings = new RequestTimings();
      const url = `http://127.0.0.1:${port === 1 ? 2 : 1}/`;
      await expect(fetcher.fetch({ url, maxBodyBytes: 100, send: POST, timings })).rejects.toBeInstanceOf(FetchError);
      expect(timings.isSent).toBe(false);
    });
  });
}
