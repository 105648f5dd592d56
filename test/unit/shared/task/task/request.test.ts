import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CrawlerFault } from '../../../../../shared/crawler/failures/crawler-fault.ts';
import { type FollowedRequest, requestOf } from '../../../../../shared/crawler/followed-request.ts';
import { formOf, taskOf } from '../../../../../shared/task/task/form.ts';
import { readMessage, writeMessage } from '../../../../../shared/task/task/message.ts';
import { offerOf } from '../../../../../shared/task/task/offer.ts';
import {
  afterRedirect,
  asFollowed,
  digestOf,
  isCacheable,
  METHODS,
  sentTo,
  shownRequest,
  type TaskRequest,
} from '../../../../../shared/task/task/request.ts';
import { hostOfMark, keyOfMark, stepOfMark } from '../../../../../shared/task/url/fingerprint.ts';
import { isProblem, readUrl } from '../../../../../shared/task/url/url.ts';

const URL_1 = 'http://a.test/1';

// biome-ignore format: a table
test.each<[Omit<FollowedRequest, 'url'>, TaskRequest | undefined]>([
  [{},                                                      undefined],
  [{ method: 'GET', headers: {}, idempotent: true },        undefined],
  [{ headers: { Accept: 'a/b' } },                          { method: 'GET', headers: { accept: 'a/b' } }],
  [{ method: 'HEAD' },                                      { method: 'HEAD' }],
  [{ method: 'POST' },                                      { method: 'POST' }],
  [{ method: 'POST', body: 'a', idempotent: true },         { method: 'POST', body: 'a', headers: { 'content-type': 'text/plain;charset=UTF-8' }, idempotent: true }],
  [{ method: 'POST', body: { q: 1 }, idempotent: false },   { method: 'POST', body: '{"q":1}', headers: { 'content-type': 'application/json' } }],
  [{ method: 'PUT', body: [1] },                            { method: 'PUT', body: '[1]', headers: { 'content-type': 'application/json' } }],
  [{ method: 'POST', body: new URLSearchParams({ q: 'ä b' }) }, { method: 'POST', body: 'q=%C3%A4+b', headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } }],
  [{ method: 'POST', body: {}, headers: { 'Content-Type': 'application/graphql+json' } }, { method: 'POST', body: '{}', headers: { 'content-type': 'application/graphql+json' } }],
])('following %o makes the request %o', (followed, request) => {
  expect(requestOf({ url: '/1', ...followed })).toEqual(request);
});

const circle: Record<string, unknown> = {};
circle.self = circle;

// biome-ignore format: a table
test.each<[object, RegExp, string]>([
  [{ body: 'a' },                                        /a GET has no body: say method: 'POST'/,                           'step'],
  [{ method: 'HEAD', body: '' },                         /a HEAD has no body/,                                              'step'],
  [{ method: 'post' },                                   /expected method to be one of GET, .*, got post$/,                 'step'],
  [{ method: 'CONNECT' },                                /expected method to be one of/,                                    'step'],
  [{ metod: 'POST' },                                    /there is no metod; there are url, method, body, headers, idempotent$/, 'step'],
  [{ method: 'POST', headers: { Host: 'b.test' } },      /header "host": can't be set: it belongs to the connection/,       'step'],
  [{ method: 'POST', headers: { 'Content-Length': '1' } }, /header "content-length": can't be set/,                         'step'],
  [{ method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } }, /header "transfer-encoding": can't be set/,             'step'],
  [{ method: 'POST', headers: { Connection: 'close' } }, /header "connection": can't be set/,                               'step'],
  [{ headers: { 'User-Agent': 'x' } },                   /header "user-agent": can be set by USER_AGENT only/,              'step'],
  [{ headers: { 'Content-Type': 'a/b' } },               /header "content-type": can't be set/,                             'step'],
  [{ headers: { 'x-a': 'b\r\nhost: c' } },               /header "x-a": expected its value to be a text of one line/,       'step'],
  [{ headers: { 'x a': 'b' } },                          /header "x a": is not the name of a header/,                       'step'],
  [{ headers: { 'X-A': 'b', 'x-a': 'c' } },              /header "x-a" is given twice/,                                     'step'],
  [{ headers: { 'x-a': 1 } },                            /header "x-a": expected a text, got a number/,                     'step'],
  [{ method: 'POST', body: () => 1 },                    /can't be written as JSON: it is a function/,                      'step'],
  [{ method: 'POST', body: circle },                     /can't be written as JSON: Converting circular/,                   'step'],
  [{ method: 'POST', body: new Uint8Array(2) },          /expected a body of text, got bytes/,                              'step'],
  [{ method: 'POST', body: 'ä'.repeat(32_769) },         /its body has 65538 bytes, more than 65536$/,                      'too_large'],
  [{ method: 'POST', body: '\u0000'.repeat(20_000) },    /it has \d{6} bytes as JSON, more than 98304$/,                    'too_large'],
  [{ headers: { 'x-a': 'a'.repeat(99_000) } },           /it has 990\d\d bytes as JSON, more than 98304$/,                  'too_large'],
])('the request %o is refused', (followed, problem, reason) => {
  let fault: unknown;
  try {
    requestOf({ url: '/1', ...followed } as FollowedRequest);
  } catch (error: unknown) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(CrawlerFault);
  expect(fault).toMatchObject({ reason, message: expect.stringMatching(problem) });
});

// biome-ignore format: a table
test.each([
  // status  GET    HEAD    POST    PUT
  [301,      'GET', 'HEAD', 'GET',  'PUT'],
  [302,      'GET', 'HEAD', 'GET',  'PUT'],
  [303,      'GET', 'HEAD', 'GET',  'GET'],
  [307,      'GET', 'HEAD', 'POST', 'PUT'],
  [308,      'GET', 'HEAD', 'POST', 'PUT'],
])('after a %i a GET becomes a %s, a HEAD a %s, a POST a %s, a PUT a %s', (status, ...methods) => {
  const before = (['GET', 'HEAD', 'POST', 'PUT'] as const).map((method) => ({ method }));
  expect(before.map((each) => sentTo(URL_1, afterRedirect(each, status), URL_1).method)).toEqual(methods);
});

test('the headers of a request go only to its first origin, but the content type goes with the body', () => {
  const request: TaskRequest = {
    method: 'POST',
    body: 'a',
    headers: { authorization: 'x', cookie: 'y', 'x-a': 'z', 'content-type': 't/u' },
  };
  const { headers } = request;
  expect(sentTo('http://a.test/2', request, URL_1)).toEqual({ method: 'POST', body: 'a', headers, mayRepeat: false });
  const elsewhere = { method: 'POST', body: 'a', headers: { 'content-type': 't/u' }, mayRepeat: false };
  for (const url of ['http://b.test/', 'https://a.test/1', 'http://a.test:81/1'])
    expect(sentTo(url, request, URL_1)).toEqual(elsewhere);
  const { 'content-type': _, ...own } = headers ?? {};
  const got = afterRedirect(request, 303);
  expect(sentTo('http://a.test/2', got, URL_1)).toEqual({ method: 'GET', headers: own, mayRepeat: true });
  expect(sentTo('http://b.test/2', got, URL_1)).toEqual({ method: 'GET', headers: {}, mayRepeat: true });
});

test('idempotent methods, and requests declared idempotent, may be repeated', () => {
  const may = METHODS.filter((method) => sentTo(URL_1, { method }, URL_1).mayRepeat);
  expect(may).toEqual(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
  expect(sentTo(URL_1, { method: 'POST', idempotent: true }, URL_1).mayRepeat).toBe(true);
});

test('only answers to GET and HEAD without credentials are cached for other runs', () => {
  const requests: (TaskRequest | undefined)[] = [
    undefined,
    { method: 'HEAD' },
    { method: 'GET', headers: { accept: 'a' } },
    { method: 'GET', headers: { authorization: 'a' } },
    { method: 'GET', headers: { cookie: 'a' } },
    { method: 'POST' },
    { method: 'POST', idempotent: true },
  ];
  expect(requests.map(isCacheable)).toEqual([true, true, true, false, false, false, false]);
});

test('credentials are not shown', () => {
  const headers = { authorization: 'a', cookie: 'b', 'x-api-key': 'c', accept: 'd' };
  expect(shownRequest({ method: 'POST', headers })).toEqual({
    method: 'POST',
    headers: { authorization: '…', cookie: '…', 'x-api-key': '…', accept: 'd' },
  });
  expect(shownRequest({ method: 'POST' })).toEqual({ method: 'POST' });
});

const anyRequest: fc.Arbitrary<TaskRequest> = fc
  .record({
    method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
    body: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
    headers: fc.dictionary(fc.constantFrom('accept', 'x-a', 'x-b', 'cookie'), fc.constantFrom('a', 'b c', 'ü')),
    idempotent: fc.constantFrom(true as const, undefined),
  })
  .map(({ body, idempotent, ...request }) => ({
    ...(request as TaskRequest),
    ...(body === undefined ? {} : { body }),
    ...(idempotent === undefined ? {} : { idempotent }),
  }));

test('a request comes back unchanged from stores and messages, and its mark holds step, URL and digest', () => {
  fc.assert(
    fc.property(anyRequest, fc.constantFrom('', 'detail'), (request, step) => {
      const url = readUrl('http://a.test:81/x?y=%7e');
      if (isProblem(url)) throw new Error(url.problem);
      const { deadlineMs: _, ...offer } = offerOf(url, { rules: [], urlKey: [] }, { depth: 1, request, step });
      const task = { ...offer, run: 'r' };
      const { mark } = task;
      expect(mark.split(' ')).toEqual([step, 'http://a.test:81/x?y=~', digestOf(request)]);
      expect([stepOfMark(mark), keyOfMark(mark), hostOfMark(mark)]).toEqual([step, mark.split(' ')[1], 'a.test:81']);
      expect(taskOf(formOf(task), task)).toEqual(task);
      expect(readMessage(Buffer.from(writeMessage(task)))).toEqual({ kind: 'task', task });
    }),
  );
});

test('two requests have the same digest only if they are the same', () => {
  fc.assert(
    fc.property(anyRequest, anyRequest, (a, b) => {
      const same = (request: TaskRequest): string => {
        const { method, body = '', headers = {} } = request;
        return JSON.stringify([method, body, Object.entries(headers).sort()]);
      };
      expect(digestOf(a) === digestOf(b)).toBe(same(a) === same(b));
    }),
  );
  const [ab, ba] = [
    { 'x-a': '1', 'x-b': '2' },
    { 'x-b': '2', 'x-a': '1' },
  ];
  expect(digestOf({ method: 'GET', headers: ab })).toMatch(/^[0-9a-f]{16}$/);
  expect(digestOf({ method: 'GET', headers: ab })).toBe(digestOf({ method: 'GET', headers: ba }));
});

test('the history of a request is not part of its digest, and a new task begins without it', () => {
  const request = { method: 'POST', body: 'a' } as const;
  const later = { ...request, isGet: true, isSent: true } as const;
  expect(digestOf(later)).toBe(digestOf(request));
  expect(asFollowed(later)).toEqual(request);
});
