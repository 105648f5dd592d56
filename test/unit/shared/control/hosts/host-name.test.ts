import { expect, test } from 'vitest';
import { readHost } from '../../../../../shared/control/hosts/host-name.ts';

// biome-ignore format: a table
test.each([
  ['example.com',                   'example.com'],
  ['Example.COM:8080',              'example.com:8080'],
  ['example.com:80',                'example.com'],
  ['example.com:443',               'example.com'],
  ['https://example.com:8443/path', 'example.com:8443'],
  ['http://user:pass@example.com/', 'example.com'],
  ['[::1]:8080',                    '[::1]:8080'],
  ['bücher.example',                'xn--bcher-kva.example'],
])('%s means the host %s', (text, host) => {
  expect(readHost(text)).toBe(host);
});

const NO_HOSTS = ['', 'a b', 'example.com/path', 'example.com?x', 'ftp://example.com', 'user@example.com'];
// The URL Standard drops these characters: to pause one would pause another host.
const OF_DROPPED = ['example.com\0', 'exam\tple.com', 'https://exam\nple.com/'];

test.each([...NO_HOSTS, ...OF_DROPPED])('"%s" is no host', (text) => {
  expect(() => readHost(text)).toThrow(/expected a host like example.com/);
});

// The URL Standard takes them for names: to pause one would pause nothing, and say that it had.
test.each(['*', '*.example.com', 'http://*.example.com:8080/'])('"%s" is a pattern, and no host', (text) => {
  expect(() => readHost(text)).toThrow(/expected one host like example.com/);
});
