import { expect, test } from 'vitest';
import { isOwnHost, isOwnOrigin } from '../../../../../services/api/access/request-origin.ts';

// biome-ignore format: a table
test.each([
  ['localhost',                true],
  ['LOCALHOST:8080',           true],
  ['[::1]:8080',               true],
  ['192.0.2.1',                true],
  ['trawl.example.com:80',     true],
  ['Trawl.example.com',        true],
  ['eviltrawl.example.com',    false],
  ['x.trawl.example.com',      false],
  ['trawl.example.com.evil',   false],
  ['localhost@evil.test',      false],
  ['evil.test@localhost',      false],
  ['evil.test/?localhost',     false],
  [undefined,                  false],
])('the host %s is its own: %s', (host, isOwn) => {
  expect(isOwnHost(host, ['trawl.example.com'])).toBe(isOwn);
});

// biome-ignore format: a table
test.each([
  [{},                                                           true],
  [{ origin: 'https://trawl.example.com' },                      true],
  [{ origin: 'https://trawl.example.com:444' },                  false],
  [{ origin: 'https://www.trawl.example.com' },                  false],
  [{ origin: 'null' },                                           false],
  [{ 'sec-fetch-site': 'same-origin' },                          true],
  [{ 'sec-fetch-site': 'none' },                                 true],
  [{ 'sec-fetch-site': 'same-site' },                            false],
  [{ 'sec-fetch-site': 'cross-site' },                           false],
  [{ 'sec-fetch-site': ['none', 'cross-site'] },                 false],
])('a request with %j comes from the own origin: %s', (headers, isOwn) => {
  for (const host of ['trawl.example.com', 'TRAWL.example.com']) expect(isOwnOrigin({ host, ...headers })).toBe(isOwn);
});
