import { expect, test } from 'vitest';
import { acceptsText } from '../../shared/crawler/crawler.ts';
import { decodeBody } from '../../shared/crawler/document/charset.ts';
import { linksOf } from '../../shared/crawler/document/link-header.ts';
import { mediaTypeOf } from '../../shared/crawler/document/media-type.ts';
import { codingsOf } from '../../shared/fetchers/decoding/content-coding.ts';
import { repairedHead } from '../../shared/fetchers/repaired-head.ts';
import { readDeadLetter } from '../../shared/ports/dead-letter.ts';
import { withoutRefusedCharacters } from '../../shared/sinks/postgres/row.ts';
import { retryAfterMs } from '../../shared/task/host/retry-after.ts';
import { parseRobots } from '../../shared/task/robots/robots.ts';
import { forbidsFollowing, isRobotsMeta } from '../../shared/task/robots/robots-directives.ts';
import { decide } from '../../shared/task/robots/robots-match.ts';
import { sitemapsIn } from '../../shared/task/robots/robots-sitemaps.ts';
import { lastmodEnd } from '../../shared/task/sitemap/lastmod.ts';
import { SitemapParser } from '../../shared/task/sitemap/sitemap.ts';
import { readMessage } from '../../shared/task/task/message.ts';
import { malformedMarkOf } from '../../shared/task/url/fingerprint.ts';
import { matchesGlob } from '../../shared/task/url/glob.ts';
import { redirectOf } from '../../shared/task/url/redirect.ts';
import { canonicalOf, linkBase, readUrl, resolveLink, withoutCredentialsIn } from '../../shared/task/url/url.ts';
import { URL_KEY_RULES, urlKeyOf } from '../../shared/task/url/url-key.ts';
import { UrlLines } from '../../shared/task/url/urls-file.ts';
import { leapOf } from '../support/hostile/linear-time.ts';

/** What grows with the square takes seconds by then. The expressions within are tried with more. */
const LONGEST = 2 ** 18;
const PAGE = 'https://example.com/a/';
const BASE = linkBase(PAGE);

/** What texts of any kind are made of here, besides what is of their own kind. */
const ANY: readonly string[] = [
  ' ',
  '\u2028',
  '\n',
  '\r',
  '\u0000',
  'a*',
  '*',
  'a',
  '0',
  'é',
  '%',
  '%4',
  '"',
  '<',
  '/',
];

/** What reads the texts of others: pages, headers, files, messages. */
const READERS: readonly (readonly [string, (text: string) => void, readonly string[]])[] = [
  [
    'the rules of a robots.txt',
    (text) => void parseRobots(Buffer.from(text)),
    [
      'User-agent: ',
      'User-agent: TrawlBot*;"',
      'User-agent: TrawlBot\n',
      'user agent ',
      'Disallow: /',
      'Disallow: /*a\n',
      'Disallow: /\u00e0',
      'Crawl-delay: ',
      'Crawl-delay: 1',
      'Crawl-delay: 1\n',
      '<br ',
      '#',
      ':',
    ],
  ],
  [
    'the crawl delay of a robots.txt',
    (text) => void parseRobots(Buffer.from(`User-agent: *\nCrawl-delay: ${text}x`)),
    ['1', '.1', '1.'],
  ],
  [
    'a rule for a URL',
    (text) => void decide(parseRobots(Buffer.from(`User-agent: *\n${text}`)), `${PAGE}${'a'.repeat(8_000)}`),
    ['Disallow: /*a*a*b\n', 'Disallow: /a*a*a*\n', `Disallow: /*${'a*'.repeat(1_000)}b\n`],
  ],
  [
    'the sitemaps of a robots.txt',
    (text) => void sitemapsIn(text, PAGE),
    ['Sitemap', 'Sitemap ', 'Sitemap:', 'Sitemap: ', 'Sitemap: /', 'Sitemap: /\n', '\u2028Sitemap'],
  ],
  ...['', '<urlset>', '<urlset><url><loc>', '<!DOCTYPE x [', '<feed xml:base="/">'].map(
    (head) =>
      [
        `a sitemap that begins with ${JSON.stringify(head)}`,
        (text: string) => readSitemap(head + text),
        [
          '<url>',
          '<url><loc>',
          '<url><loc>/a</loc></url>',
          '</url>',
          '<url a=b ',
          '<!--',
          '<!ENTITY a ',
          '<![CDATA[',
          '&a;',
          '# ',
          '<?xml ',
          '<entry xml:base="a/">',
          '<entry xml:base="a/"><link href="b"/></entry>',
          '<item><guid>',
        ],
      ] as const,
  ),
  [
    'a list of URLs',
    (text) => {
      const lines = new UrlLines();
      lines.write(text);
      lines.end();
    },
    ['#', 'https://example.com/\n', '\r\n'],
  ],
  [
    'the first line of a list of URLs',
    (text) => void new UrlLines().write(`${text.replaceAll(/[\r\n]/g, '')}\n`),
    ['https://example.com/,', 'https://example.com/;a', 'url,', '"url",'],
  ],
  ['the date of a sitemap', (text) => void lastmodEnd(text), ['2', '2026-', 'Mon, ', '2026-11-21T10:00:00.', '+00']],
  [
    'a Retry-After',
    (text) => void retryAfterMs({ 'retry-after': text, date: text, age: text }, 0),
    ['1', 'Mon', 'Mon, 21 '],
  ],
  [
    'the head of an answer',
    (text) => void repairedHead(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`),
    ['a: b\r\n', 'a b: c\n', ' b\n', 'content-length: 4\r\n', 'content-length: 4,', 'transfer-encoding: a\n', ':'],
  ],
  ['a Content-Encoding', (text) => void codingsOf(text, text), ['gzip', 'gzip,', ', ', ',']],
  ['a Content-Type', (text) => void [acceptsText(text), mediaTypeOf(text)], ['application/', 'a.', 'text/html;', ';']],
  [
    'the charset of a Content-Type',
    (text) => void decodeBody(new Uint8Array(), text),
    ['charset', 'charset=', 'charset = ', `charset="`, ';charset=" '],
  ],
  [
    'robots directives',
    (text) => void [forbidsFollowing(text), isRobotsMeta(text)],
    ['nofollow', 'trawlbot:', 'a: ', ','],
  ],
  ['a Link', (text) => void linksOf(text), ['<', '<a>;', '<a>;b=,', '<a>;b="', '<a>,', ';b', '\\', '"']],
  ['a Location', (text) => void redirectOf(302, text, PAGE), ['//', '../', 'http://', '@', '?', '#']],
  ['a URL', (text) => void readUrl(text), ['http://', 'http://a@', 'a:', '../', '#']],
  ['a link', (text) => void resolveLink(text, BASE), ['../', './', '//', '?', '#', '/%2e', 'http:']],
  [
    'the canonical form of a URL, and its key',
    (text) => void urlKeyOf(canonicalOf(`${PAGE}${text}`), URL_KEY_RULES),
    ['%41', '%4%41', '%%', 'a?b=1&', '?utm_a', '&utm_', '&', '/'],
  ],
  ['a text for the log', (text) => void withoutCredentialsIn(text), ['http://', '@', 'a@', 'http://a@']],
  ['what is no URL', (text) => void malformedMarkOf(text), ['\u007f', ' a', 'http://a@']],
  ['a pattern for URLs', (text) => void matchesGlob('/a*a*b', text), ['/a', 'aab']],
  ['a message', (text) => void readMessage(new TextEncoder().encode(text)), ['{"url":"', '{"a":', '\\']],
  ['a dead letter', (text) => void readDeadLetter(Buffer.from(text)), ['{"url":"', '{"a":', '\\']],
  ['a record for Postgres', (text) => void withoutRefusedCharacters(text), ['\\', '\\u0000', '\\ud800', '\\u']],
];

test.each(READERS)('%s is read in time that grows with its length, whatever it is made of', (_, read, own) => {
  for (const pump of [...ANY, ...own]) {
    const leap = leapOf(read, (length) => pump.repeat(Math.ceil(length / pump.length)), LONGEST);
    expect({ pump, leap }).toEqual({ pump, leap: undefined });
  }
});

function readSitemap(text: string): void {
  const parser = new SitemapParser({ url: PAGE });
  for (let at = 0; at < text.length; at += 65_536) parser.write(text.slice(at, at + 65_536));
  parser.end();
}
