import http, { type RequestOptions } from 'node:http';
import got, { type OptionsInit, type Request } from 'got';
import { expect, onTestFinished, test } from 'vitest';
import { emptyFinished, HELD } from '../../../shared/fetchers/got/finished-request.ts';
import { TestSite } from '../../support/site.ts';
import { versionsOf } from './package-files.ts';

/** A request that was read to its end, and the options that got gave for Node.js. */
async function finishedRequest(): Promise<{ request: Request; given: RequestOptions }> {
  const site = new TestSite();
  await site.start();
  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    await site.stop();
  });
  let given: RequestOptions = {};
  const makeRequest: OptionsInit['request'] = (url, options, onResponse) => {
    given = options;
    return http.request(url, { agent: options.agent as http.Agent }, onResponse);
  };
  const request = got.stream(site.url('/page/1'), {
    agent: { http: agent },
    retry: { limit: 0 },
    timeout: { request: 5_000 },
    decompress: false,
    request: makeRequest,
  });
  for await (const chunk of request) expect(chunk.length).toBeGreaterThan(0);
  return { request, given };
}

test('got is pinned to the version whose inside is known', () => {
  const { asked, installed } = versionsOf('got');
  expect(asked, 'finished-request.ts touches private names: `got` needs an exact version').toBe(installed);
});

test('a finished request still holds what shared/fetchers/got/finished-request.ts takes from it', async () => {
  const { request } = await finishedRequest();
  const held = request as unknown as Record<string, unknown>;
  for (const name of HELD) {
    expect(held[name], `got's Request has no ${name}: see what it calls that now, and correct HELD`).toBeDefined();
  }
  emptyFinished(request);
  for (const name of HELD) expect(held[name], `${name} can't be emptied: got guards it`).toBeUndefined();
});

test('and nothing else that is large', async () => {
  const { request } = await finishedRequest();
  const objects = Object.entries(request)
    .filter(([, value]) => typeof value === 'function' || (typeof value === 'object' && value !== null))
    .map(([name]) => name)
    .filter((name) => !(HELD as readonly string[]).includes(name));
  expect(
    objects.toSorted(),
    'new names: does one hold the answer, its headers or the socket? Then it goes into HELD',
  ).toEqual([
    '_dispatchedBody',
    '_events',
    '_jobs',
    '_onBodyError',
    '_pipedServerResponses',
    '_readableState',
    '_requestTimeout',
    '_writableState',
    'options',
    'redirectUrls',
    'requestUrl',
  ]);
});

test('the options that `requestBy` drops are those that Node.js sets in the same way itself', async () => {
  const { given } = await finishedRequest();
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  expect(
    defined.map(([name]) => name).toSorted(),
    'got gives Node.js more: does `requestBy` in shared/fetchers/got/fetcher.ts have to pass it on?',
  ).toEqual(['agent', 'checkServerIdentity', 'headers', 'method', 'setHost']);
  expect(given).toMatchObject({ setHost: true });
});
