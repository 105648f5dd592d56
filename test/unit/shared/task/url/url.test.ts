import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalOf,
  isProblem,
  linkBase,
  MAX_URL_LENGTH,
  readUrl,
  resolveLink,
  withoutCredentials,
  withoutCredentialsIn,
} from '../../../../../shared/task/url/url.ts';
import { URL_KEY_RULES, urlKeyOf } from '../../../../../shared/task/url/url-key.ts';

test.each([
  // written                              fetched                              compared                            host
  ['http://example.com', 'http://example.com/', 'http://example.com/', 'example.com'],
  ['HTTP://Example.COM:80/a', 'http://example.com/a', 'http://example.com/a', 'example.com'],
  ['https://example.com:443/', 'https://example.com/', 'https://example.com/', 'example.com'],
  ['https://example.com:8443/', 'https://example.com:8443/', 'https://example.com:8443/', 'example.com:8443'],
  ['http://example.com/a#top', 'http://example.com/a', 'http://example.com/a', 'example.com'],
  ['http://example.com/a/../b', 'http://example.com/b', 'http://example.com/b', 'example.com'],
  ['http://example.com/%7euser', 'http://example.com/%7euser', 'http://example.com/~user', 'example.com'],
  ['http://example.com/a%2fb', 'http://example.com/a%2fb', 'http://example.com/a%2Fb', 'example.com'],
  ['http://example.com/?q=%c3%a9', 'http://example.com/?q=%c3%a9', 'http://example.com/?q=%C3%A9', 'example.com'],
  ['http://münchen.de/ä', 'http://xn--mnchen-3ya.de/%C3%A4', 'http://xn--mnchen-3ya.de/%C3%A4', 'xn--mnchen-3ya.de'],
  ['  http://example.com/  ', 'http://example.com/', 'http://example.com/', 'example.com'],
  ['http://[::1]:8080/', 'http://[::1]:8080/', 'http://[::1]:8080/', '[::1]:8080'],
  ['http://Example.com./a.', 'http://example.com./a.', 'http://example.com./a.', 'example.com'],
  ['https://example.com.:8443/', 'https://example.com.:8443/', 'https://example.com.:8443/', 'example.com:8443'],
  ['http://./', 'http://./', 'http://./', '.'],
  ['http://example.com../', 'http://example.com../', 'http://example.com../', 'example.com..'],
])('%s is fetched as %s and compared as %s', (written, href, canonical, host) => {
  expect(readUrl(written)).toEqual({ href, canonical, host });
});

test.each([
  ['', 'it is empty'],
  ['example.com/page', 'it has no scheme'],
  ['ftp://example.com/', 'its scheme is ftp, not http or https'],
  ['javascript:alert(1)', 'its scheme is javascript, not http or https'],
  ['http://', 'it is not a valid URL'],
  ['http://exa mple.com/', 'it is not a valid URL'],
  ['http://(joins)/', 'no host is called (joins)'],
  ['https://user@(Joins).:443/a', 'no host is called (joins)'],
  [`http://example.com/${'a'.repeat(MAX_URL_LENGTH)}`, `it is longer than ${MAX_URL_LENGTH} characters`],
  // Six characters each, once they are escaped.
  [`http://example.com/${'é'.repeat(MAX_URL_LENGTH / 4)}`, `it is longer than ${MAX_URL_LENGTH} characters`],
])('%s is no URL: %s', (written, problem) => {
  expect(readUrl(written)).toEqual({ problem });
});

test('two spellings of one URL compare alike, a different one does not', () => {
  const canonical = (text: string): string | undefined => {
    const url = readUrl(text);
    return isProblem(url) ? undefined : url.canonical;
  };
  expect(canonical('http://example.com/%7Ea?b=%2f')).toBe(canonical('HTTP://EXAMPLE.com:80/~a?b=%2F'));
  expect(canonical('http://example.com/a%2Fb')).not.toBe(canonical('http://example.com/a/b'));
});

// biome-ignore format: a table
test.each([
  ['/%4%41',        '/%4%41'],
  ['/%%41',         '/%%41'],
  ['/%%34%31',      '/%%341'],
  ['/%4%7A',        '/%4z'],
  ['/%4%2f%41',     '/%4%2FA'],
  ['/%zz%41',       '/%zzA'],
  ['/%z%41',        '/%zA'],
  ['/%25%34%31',    '/%2541'],
  ['/%e%c3%a9',     '/%e%C3%A9'],
])('%s is compared as %s: a broken escape never becomes a valid one', (written, canonical) => {
  expect(canonicalOf(`http://example.com${written}`)).toBe(`http://example.com${canonical}`);
});

/** URLs with escapes of every kind, broken ones above all. */
const oddUrl = fc
  .array(
    fc.constantFrom(
      ...'%%%%0123456789abcdefABCDEFzZ.~-_/?&=+#:@ é',
      '%41',
      '%4',
      '%2f',
      '%25',
      '%7E',
      'utm_x=',
      'www.',
    ),
    {
      maxLength: 16,
    },
  )
  .map((parts) => `http://www.www.example.com/${parts.join('')}`);

test('canonical URLs and keys stay the same when canonicalised, keyed or read again', () => {
  fc.assert(
    fc.property(oddUrl, fc.subarray([...URL_KEY_RULES]), (text, rules) => {
      const url = readUrl(text);
      if (isProblem(url)) return;
      const { canonical } = url;
      expect(canonicalOf(canonical)).toBe(canonical);
      expect(readUrl(canonical)).toEqual({ ...url, href: canonical });
      const key = urlKeyOf(canonical, rules);
      expect(urlKeyOf(key, rules)).toBe(key);
      expect(canonicalOf(key)).toBe(key);
      expect(readUrl(key)).toMatchObject({ href: key, canonical: key });
    }),
    { numRuns: 20_000 },
  );
});

const PAGE = 'http://example.com/a/';

test.each([
  ['b', 'http://example.com/a/b'],
  ['/b?x#y', 'http://example.com/b?x'],
  ['/b/%7e', 'http://example.com/b/%7e'],
  ['/../b', 'http://example.com/b'],
  ['/a/%2E%2e/b', 'http://example.com/b'],
  ['//other.com', 'http://other.com/'],
  ['mailto:a@example.com', undefined],
  ['http://', undefined],
  ['//(joins)/', undefined],
  ['//a(joins)/', 'http://a(joins)/'],
])('the link %s leads to %s', (link, href) => {
  expect(resolveLink(link, linkBase(PAGE))).toBe(href);
});

test('the fast way to resolve a link agrees with the URL Standard', () => {
  const character = fc.constantFrom(...'ab0/.%2eE?=&#:@!$()*;,+~-_ é\\\'"<>|^`{}[]\t');
  const link = fc.array(character, { maxLength: 12 }).map((characters) => `/${characters.join('')}`);
  const base = fc.constantFrom('http://example.com/', 'https://example.com:8080/x/y?z', 'http://[::1]/a');
  fc.assert(
    fc.property(link, base, (text, page) => {
      const url = URL.parse(text, page);
      if (url !== null) [url.username, url.password] = ['', ''];
      const expected = url === null ? undefined : url.href.split('#')[0];
      expect(resolveLink(text, linkBase(page))).toBe(expected);
    }),
    { numRuns: 20_000 },
  );
});

test.each([
  ['http://user:secret@example.com/a@b', 'http://example.com/a@b'],
  ['http://example.com/a@b', 'http://example.com/a@b'],
  ['https://token@example.com/', 'https://example.com/'],
  [' HTTP:\\\\user:secret@example.com/', ' HTTP:\\\\example.com/'],
  ['http:user:secret@example.com/', 'http:example.com/'],
  ['http://user:se/cr@et@example.com/', 'http://example.com/'],
  ['http://user:secret@example.com:port/', 'http://example.com:port/'],
  ['//user:secret@example.com/', '//example.com/'],
  ['ftp://user:secret@example.com/', 'ftp://example.com/'],
  ['mailto:user@example.com', 'mailto:user@example.com'],
  ['/a@b', '/a@b'],
  ['user@example.com', 'user@example.com'],
])('%s is shown as %s', (url, shown) => {
  expect(withoutCredentials(url)).toBe(shown);
});

test.each([
  ['user:secret@example.com/a', 'example.com/a'],
  ['user:@127.0.0.1:8080/', '127.0.0.1:8080/'],
  ['mailto:me@example.com', 'mailto:me@example.com'],
  ['me@example.com', 'me@example.com'],
  ['example.com:8080/a@b', 'example.com:8080/a@b'],
  ['{"at":"a:b@example.com"}', '{"at":"a:b@example.com"}'],
])('a URL that lacks its scheme is shown without what looks like credentials: %s', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});

test('a longer text is shown without the credentials of any URL in it', () => {
  const body =
    '{"url":"http://canary:c@4@a.test/x@y","redirects":["//canary@b.test/","ftp://c4@h"]} canary@example.com';
  const shown = '{"url":"http://a.test/x@y","redirects":["//b.test/","ftp://h"]} canary@example.com';
  expect(withoutCredentialsIn(body)).toBe(shown);
});

test.each([
  ['http://user:pw@example.com/a', 'user:pw'],
  ['http://user@example.com/a', 'user'],
  ['http://:pw@example.com/a', ':pw'],
  ['http://us%65r:p w@example.com/a#@', 'us%65r:p%20w'],
  ['http://@example.com/a', undefined],
  ['http://example.com/a', undefined],
])('%s is read without its credentials, which are %s', (text, login) => {
  const read = readUrl(text);
  expect(read).toMatchObject({ href: 'http://example.com/a', canonical: 'http://example.com/a', host: 'example.com' });
  expect('login' in read ? read.login : undefined).toBe(login);
});
