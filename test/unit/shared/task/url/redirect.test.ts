import { expect, test } from 'vitest';
import { redirectOf } from '../../../../../shared/task/url/redirect.ts';

// As a header arrives: each character is a byte.
// biome-ignore format: a table
test.each([
  ['UTF-8',                     '/caf\xc3\xa9?q=\xc3\xa9',          'http://a.test/caf%C3%A9?q=%C3%A9'],
  ['Latin-1',                   '/caf\xe9?q=\xe9',                  'http://a.test/caf%E9?q=%E9'],
  ['Shift_JIS',                 '/\x93\xfa\x96\x7b',                'http://a.test/%93%FA%96%7B'],
  ['UTF-8 beside escapes',      '/\xc3\xa9/%E9/%c3%a9',             'http://a.test/%C3%A9/%E9/%c3%a9'],
  ['UTF-8 in a host name',      'http://b\xc3\xbccher.test/',       'http://xn--bcher-kva.test/'],
])('%s in a Location leads to the URL that the site means', (_, location, to) => {
  expect(redirectOf(302, location, 'http://a.test/a')).toEqual({ to });
});

test('an answer redirects only if it has a redirect status and a Location', () => {
  const statuses = [200, 201, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 404];
  const redirecting = statuses.filter((status) => redirectOf(status, '/b', 'http://a.test/a') !== undefined);
  expect(redirecting).toEqual([301, 302, 303, 307, 308]);
  expect(redirectOf(301, undefined, 'http://a.test/a')).toBeUndefined();
  expect(redirectOf(301, '', 'http://a.test/a')).toBeUndefined();
  expect(redirectOf(301, 'https://u:p@a.test/b#c', 'http://a.test/a')).toEqual({
    to: 'https://a.test/b',
    login: 'u:p',
  });
});

test.each([
  ['ftp://me:pass@a.test/'],
  ['http://me:pass@a.test:99999/'],
  ["javascript:location='http://me:pass@a.test/'"],
  ['app:open?url=https://me:pass@a.test/x'],
])('the reason not to follow a redirect to %s holds no credentials', (location) => {
  const redirect = redirectOf(302, location, 'http://a.test/a');
  expect(redirect).toEqual({ problem: expect.stringContaining('//a.test') });
  expect(JSON.stringify(redirect)).not.toContain('pass');
});

test('no redirect leads to the host name by which got reaches socket files', () => {
  const socket = '/var/run/docker.sock:/containers/json';
  for (const location of [`http://unix:${socket}`, `https://UNIX/${socket}`, `//unix${socket}`, 'http://u:p@unix:80/'])
    expect(redirectOf(302, location, 'http://a.test/a')).toEqual({ problem: expect.any(String) });
  expect(redirectOf(302, 'http://unix.test/', 'http://a.test/a')).toEqual({ to: 'http://unix.test/' });
});

test('no redirect leads to the host name reserved for joins', () => {
  expect(redirectOf(302, 'http://(joins)/b', 'http://a.test/a')).toEqual({ problem: expect.any(String) });
  expect(redirectOf(302, 'http://(join)/b', 'http://a.test/a')).toEqual({ to: 'http://(join)/b' });
});
