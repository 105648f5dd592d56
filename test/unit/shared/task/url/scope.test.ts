import { expect, test } from 'vitest';
import { registrableDomainOf } from '../../../../../shared/task/url/registrable-domain.ts';
import { type Scope, scopeTest } from '../../../../../shared/task/url/scope.ts';
import { hostKeyOf } from '../../../../../shared/task/url/url.ts';

/** Returns what a followed link of a seed passes on: `{}`, or the folder its own links are bound to. Undefined: it is not followed. */
function follow(scope: Scope, seed: string, finalUrl: string, link: string) {
  const host = hostKeyOf(new URL(seed));
  const isInScope = scopeTest(scope, { url: seed, host, depth: 0 }, finalUrl, registrableDomainOf);
  return isInScope({ href: link, host: hostKeyOf(new URL(link)) });
}

// biome-ignore format: a table
test.each<[Scope, string, string, boolean]>([
  // scope   seed                               link                                 followed
  ['host',   'https://example.com/a',           'http://example.com/b',              true],
  ['host',   'https://example.com/a',           'https://www.example.com/b',         false],
  ['host',   'https://example.com:8443/a',      'https://example.com/b',             false],
  ['host',   'https://example.com./a',          'https://example.com./b',            true],
  ['host',   'https://example.com./a',          'https://example.com/b',             false],
  ['path',   'https://example.com./docs/',      'https://example.com./docs/b',       true],
  ['domain', 'https://www.example.co.uk/a',     'https://shop.example.co.uk/b',      true],
  ['domain', 'https://www.example.co.uk/a',     'https://example.co.uk:8080/b',      true],
  ['domain', 'https://www.example.co.uk/a',     'https://another.co.uk/b',           false],
  ['domain', 'https://www.example.co.uk/a',     'https://example.co.uk.evil.com/b',  false],
  ['domain', 'https://one.github.io/',          'https://two.github.io/',            false],
  ['domain', 'http://127.0.0.1:8000/',          'http://127.0.0.1:9000/',            true],
  ['domain', 'http://127.0.0.1/',               'http://127.0.0.2/',                 false],
  ['domain', 'http://localhost:8000/',          'http://localhost:8000/a',           true],
  ['domain', 'http://[::1]:8000/',              'http://[::1]/a',                    true],
  ['path',   'https://example.com/docs/a.html', 'https://example.com/docs/b/c?x=/y', true],
  ['path',   'https://example.com/docs/a.html', 'http://example.com/docs/',          true],
  ['path',   'https://example.com/docs/?p=/q/', 'https://example.com/docs/b',        true],
  ['path',   'https://example.com/docs/',       'https://example.com/docs',          false],
  ['path',   'https://example.com/docs/',       'https://example.com/documents/',    false],
  ['path',   'https://example.com/docs',        'https://example.com/anywhere',      true],
  ['path',   'https://example.com/docs/',       'https://www.example.com/docs/b',    false],
  ['path',   'https://example.com/%7Ea/',       'https://example.com/~a/b',          true],
  ['path',   'https://example.com/caf%c3%a9/',  'https://example.com/caf%C3%A9/b',   true],
  ['path',   'https://example.com/a%2Fb/',      'https://example.com/a/b/c',         false],
  ['path',   'https://u:p@example.com/docs/',   'https://example.com/docs/b',        true],
])('with scope %s, the link from %s to %s is followed: %s', (scope, seed, link, isFollowed) => {
  expect(follow(scope, seed, seed, link) !== undefined).toBe(isFollowed);
});

test('the redirect target of a seed is in scope, but for scope path its whole host is not', () => {
  const [seed, www] = ['http://example.com/docs/', 'https://www.example.com/docs/start'];
  expect(follow('host', seed, www, 'https://www.example.com/x')).toEqual({});
  expect(follow('domain', 'http://example.com/', 'http://example.org/', 'http://a.example.org/')).toEqual({});
  expect(follow('path', seed, www, 'https://www.example.com/docs/b')).toEqual({ within: 'www.example.com/docs/' });
  expect(follow('path', seed, 'http://example.com/login', 'http://example.com/help')).toBeUndefined();
  const login = 'https://www.example.com/login';
  expect(follow('path', seed, login, 'https://www.example.com/docs/b'), 'out of its folder').toBeUndefined();
});

test('a folder that an older version stored unnormalised still counts', () => {
  const task = { url: 'http://example.com/%7Ea/b', host: 'example.com', depth: 1, within: 'example.com/%7Ea/' };
  const isInScope = scopeTest('path', task, task.url, registrableDomainOf);
  expect(isInScope({ href: 'http://example.com/~a/c', host: 'example.com' })).toEqual({ within: 'example.com/~a/' });
});

test('a followed page keeps the folder of its seed, and its redirect does not widen the scope', () => {
  const task = { url: 'http://example.com/docs/a/b', host: 'example.com', depth: 1, within: 'example.com/docs/' };
  const isInScope = scopeTest('path', task, 'http://www.example.com/', registrableDomainOf);
  const follows = (href: string) => isInScope({ href, host: new URL(href).host });
  expect(follows('http://example.com/docs/c')).toEqual({ within: 'example.com/docs/' });
  expect(follows('http://www.example.com/docs/c')).toBeUndefined();
  const host = scopeTest('host', task, 'http://www.example.com/', registrableDomainOf);
  expect(host({ href: 'http://www.example.com/', host: 'www.example.com' })).toBeUndefined();
});

test.each<{ depth: number; followed?: true }>([{ depth: 1 }, { depth: 0, followed: true }])(
  'of a task that is no seed, %j, a redirect widens no scope',
  (place) => {
    const task = { url: 'http://www.example.com/a', host: 'www.example.com', ...place };
    const follows = (scope: Scope, href: string) =>
      scopeTest(scope, task, 'http://elsewhere.org/', registrableDomainOf)({ href, host: new URL(href).host }) !==
      undefined;
    const links = [
      'http://www.example.com/b',
      'http://shop.example.com/',
      'http://elsewhere.org/b',
      'http://a.elsewhere.org/',
    ];
    expect(links.map((link) => follows('host', link))).toEqual([true, false, false, false]);
    expect(links.map((link) => follows('domain', link))).toEqual([true, true, false, false]);
  },
);
