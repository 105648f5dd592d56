import { expect, test } from 'vitest';
import { HostHeaders, parseHostHeaders } from '../../../../../shared/task/host/host-headers.ts';

function read(json: unknown): HostHeaders {
  const parsed = parseHostHeaders(json);
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed;
}

const HEADERS = read({
  'Example.com': { Authorization: 'Bearer 1', COOKIE: 'a=b; c=d' },
  'example.com:8443': { 'x-key': 'port' },
  '*.example.org': { 'x-key': 'any' },
  '*.deep.example.org': { 'x-key': 'deep' },
  'one.example.org': { 'x-key': 'one' },
  'bücher.example': { 'x-key': 'idn' },
  '[::1]:8080': { 'x-key': 'v6' },
  'quiet.example': {},
  'https://safe.example': { 'x-key': 'tls' },
  'https://*.safe.example:443': { 'x-key': 'any, tls' },
  'https://both.example': { 'x-key': 'tls' },
  'both.example': { 'x-key': 'either' },
});

// biome-ignore format: a table
test.each([
  ['https://example.com/a?b',          { authorization: 'Bearer 1', cookie: 'a=b; c=d' }],
  ['http://example.com:80/',           { authorization: 'Bearer 1', cookie: 'a=b; c=d' }],
  ['https://EXAMPLE.com/',             { authorization: 'Bearer 1', cookie: 'a=b; c=d' }],
  ['https://example.com:8443/',        { 'x-key': 'port' }],
  ['https://example.com:8444/',        undefined],
  ['https://www.example.com/',         undefined],
  ['https://notexample.com/',          undefined],
  ['https://example.com.evil.test/',   undefined],
  ['https://evil.test/example.com',    undefined],
  ['https://example.com@evil.test/',   undefined],
  ['https://a.example.org/',           { 'x-key': 'any' }],
  ['https://a.b.example.org/',         { 'x-key': 'any' }],
  ['https://a.deep.example.org/',      { 'x-key': 'deep' }],
  ['https://one.example.org/',         { 'x-key': 'one' }],
  ['https://example.org/',             undefined],
  ['https://badexample.org/',          undefined],
  ['https://a.example.org:8443/',      undefined],
  ['https://xn--bcher-kva.example/',   { 'x-key': 'idn' }],
  ['http://[::1]:8080/',               { 'x-key': 'v6' }],
  ['https://quiet.example/',           {}],
  ['https://safe.example/',            { 'x-key': 'tls' }],
  ['http://safe.example/',             undefined],
  ['http://safe.example:443/',         undefined],
  ['https://a.safe.example/',          { 'x-key': 'any, tls' }],
  ['http://a.safe.example/',           undefined],
  ['https://both.example/',            { 'x-key': 'tls' }],
  ['http://both.example/',             { 'x-key': 'either' }],
  ['no url',                           undefined],
])('a request for %s has the headers %j', (url, headers) => {
  expect(HEADERS.of(url)).toEqual(headers);
});

// biome-ignore format: a table
test.each([
  ['https://example.com/a', 'https://example.com/b',       true],
  ['https://example.com/a', 'http://example.com/a',        false],
  ['http://example.com/a',  'https://example.com/a',       false],
  ['https://example.com/a', 'https://one.example.org/',    false],
  ['https://example.com/a', 'https://example.com:8443/a',  false],
])('a request for %s, redirected from %s, has the headers of its host: %s', (url, from, isSent) => {
  expect(HEADERS.of(url, from) !== undefined).toBe(isSent);
});

test('the variant is the same for the same headers, and differs if any header differs', () => {
  const variant = (headers: object): string | undefined => read({ h: headers }).variantOf('http://h/');
  expect(variant({ A: '1', b: '2' })).toMatch(/^[0-9a-f]{16}$/);
  expect(variant({ A: '1', b: '2' })).toBe(variant({ B: '2', a: '1' }));
  expect(new Set([{ a: '1' }, { a: '2' }, { b: '1' }, { a: '1', b: '2' }].map(variant)).size).toBe(4);
  expect(read({ h: { a: '1' } }).variantOf('http://other/')).toBeUndefined();
  expect(HostHeaders.none.variantOf('http://h/')).toBeUndefined();
});

// biome-ignore format: a table
test.each<readonly [unknown, string]>([
  [[],                                             'expected an object of hosts, each with an object of headers'],
  [{ h: 'secret' },                                '"h" has no object of headers'],
  [{ 'http://h': {} },                             '"http://h" is not a host such as'],
  [{ 'https://h/': {} },                           '"https://h/" is not a host such as'],
  [{ 'https://h:443': {}, 'HTTPS://h': {} },       '"HTTPS://h" is listed twice'],
  [{ 'h/path': {} },                               '"h/path" is not a host such as'],
  [{ '*': {} },                                    '"*" is not a host such as'],
  [{ 'a.*.h': {} },                                '"a.*.h" is not a host such as'],
  [{ '*.127.0.0.1': {} },                          '"*.127.0.0.1" is not a host such as'],
  [{ 'jo:pass@h': {} },                            '"jo:pass@h" is not a host such as'],
  [{ 'h:99999x': {} },                             '"h:99999x" is not a host such as'],
  [{ h: {}, H: {} },                               '"H" is listed twice'],
  [{ h: { a: '1', A: '2' } },                      '"h", header "A": is listed twice'],
  [{ h: { 'a b': 'secret' } },                     '"h", header "a b": is not the name of a header'],
  [JSON.parse('{"h":{"__proto__":"secret"}}'),     '"h", header "__proto__": is not the name of a header'],
  [{ h: { a: 7 } },                                '"h", header "a": expected its value to be a text of one line'],
  [{ h: { a: 'secret\r\nhost: evil' } },           '"h", header "a": expected its value to be a text of one line'],
  [{ h: { a: ' secret' } },                        '"h", header "a": expected its value to be a text of one line'],
  [{ h: { a: 'secret€' } },                        '"h", header "a": expected its value to be a text of one line'],
  [{ h: { 'User-Agent': 'secret' } },              '"h", header "User-Agent": can be set by USER_AGENT only'],
  ...['Host', 'Content-Length', 'connection', 'accept-encoding', 'transfer-encoding', 'proxy-authorization', 'range',
    'if-none-match', 'te', 'upgrade', 'expect'].map((name) =>
    [{ h: { [name]: 'secret' } },                  `"h", header "${name}": can't be set`] as const),
])('%j is refused: %s', (json, said) => {
  const parsed = parseHostHeaders(json);
  expect(parsed).toEqual({ problems: [expect.stringContaining(said)] });
  expect(JSON.stringify(parsed)).not.toContain('secret');
});

test('names that every object inherits are names like any other', () => {
  const headers = read(JSON.parse('{"constructor":{"toString":"1"},"__proto__":{"constructor":"2"}}'));
  expect(headers.of('http://constructor/')).toEqual({ tostring: '1' });
  expect(headers.of('http://__proto__/')).toEqual({ constructor: '2' });
  expect(headers.of('http://valueof/')).toBeUndefined();
});

test('all problems are reported at once', () => {
  expect(parseHostHeaders({ h: { host: 'x', a: '' }, 'b/': {} })).toEqual({
    problems: Array(3).fill(expect.any(String)),
  });
});
