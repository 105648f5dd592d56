import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isProblem,
  linkBase,
  MAX_URL_LENGTH,
  readUrl,
  resolveLink,
  withoutCredentials,
} from '../../../../shared/task/url.ts';

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
  ['http://user:pw@example.com/', 'http://user:pw@example.com/', 'http://user:pw@example.com/', 'example.com'],
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
  [`http://example.com/${'a'.repeat(MAX_URL_LENGTH)}`, `it is longer than ${MAX_URL_LENGTH} characters`],
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
])('the link %s leads to %s', (link, href) => {
  expect(resolveLink(link, linkBase(PAGE))).toBe(href);
});

test('the short way to resolve a link gives what the URL Standard gives', () => {
  const character = fc.constantFrom(...'ab0/.%2eE?=&#:@!$()*;,+~-_ é\\\'"<>|^`{}[]\t');
  const link = fc.array(character, { maxLength: 12 }).map((characters) => `/${characters.join('')}`);
  const base = fc.constantFrom('http://example.com/', 'https://u:p@example.com:8080/x/y?z', 'http://[::1]/a');
  fc.assert(
    fc.property(link, base, (text, page) => {
      const url = URL.parse(text, page);
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
])('%s is shown as %s', (url, shown) => {
  expect(withoutCredentials(url)).toBe(shown);
});
