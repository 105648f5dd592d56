import { expect, test } from 'vitest';
import { keyWithLogin, loginFor, withLogin } from '../../shared/task/url/logins.ts';
import { isProblem, linkBase, readUrl, resolveUrl } from '../../shared/task/url/url.ts';
import { urlKeyOf } from '../../shared/task/url/url-key.ts';
import { rows } from './cases.ts';

interface Row {
  readonly id: string;
  readonly tier: 'core' | 'syntax-safe' | 'heuristic';
}
interface ParseCase extends Row {
  readonly kind: 'parse' | 'invalid';
  readonly in: string;
  readonly base: string | null;
  readonly out?: string;
}
interface NormalizeCase extends Row {
  readonly kind: 'normalize';
  readonly in: string;
  readonly out: string;
}
interface PairCase extends Row {
  readonly kind: 'same' | 'differ';
  readonly a: string;
  readonly b: string;
  readonly why: string;
}

const cases = rows<ParseCase | NormalizeCase | PairCase>('urls.jsonl').filter(({ tier }) => tier !== 'heuristic');

/**
 * What would be fetched, with the credentials that travel beside it; nothing if it can't be crawled. Those of a base serve
 * what has none of its own and the same origin, as everywhere in a run.
 */
function fetchedOf(text: string, base: string | null): string | undefined {
  const from = base === null ? undefined : readUrl(base);
  const plain = from === undefined || isProblem(from) ? undefined : from;
  const url = base === null ? readUrl(text) : resolveUrl(text, linkBase(plain?.href ?? new URL(base).href));
  if (url === undefined || isProblem(url)) return undefined;
  const login = url.login ?? loginFor(url.href, plain && withLogin(undefined, plain.href, plain.login));
  return login === undefined ? url.href : url.href.replace('://', `://${login}@`);
}

/** Of what the URL Standard makes of it, only http and https can be crawled, and a fragment is not fetched. */
function crawlable(href = ''): string | undefined {
  return /^https?:/.test(href) ? href.replace(/#.*/, '') : undefined;
}

function keyOf(text: string): string {
  const url = readUrl(text);
  return isProblem(url) ? `${text}: ${url.problem}` : keyWithLogin(url.canonical, url.login);
}

for (const each of cases) {
  switch (each.kind) {
    case 'parse':
    case 'invalid':
      test(`${each.id}: ${JSON.stringify(each.in)} is read as the URL Standard says`, () => {
        expect(fetchedOf(each.in, each.base)).toBe(crawlable(each.out));
      });
      break;
    case 'normalize':
      test(`${each.id}: ${JSON.stringify(each.in)} has the key of ${each.out}`, () => {
        expect(keyOf(each.in)).toBe(keyOf(each.out));
      });
      break;
    case 'same':
      test(`${each.id}: one key, ${each.why}`, () => expect(keyOf(each.a)).toBe(keyOf(each.b)));
      break;
    case 'differ':
      test(`${each.id}: two keys, ${each.why}`, () => expect(keyOf(each.a)).not.toBe(keyOf(each.b)));
  }
}

// Rows that sort a query, which is off unless a run asks for it. One of them sorts by value, too: that takes two pages for one.
const sorting = rows<NormalizeCase & { readonly ops?: string }>('urls.jsonl').filter(
  ({ ops, id }) => ops === 'pct+sort-query' && id !== 'u0610',
);
for (const each of sorting) {
  test(`${each.id}: ${JSON.stringify(each.in)} has the key of ${each.out}, with sort-query`, () => {
    expect(urlKeyOf(keyOf(each.in), ['sort-query'])).toBe(urlKeyOf(keyOf(each.out), ['sort-query']));
  });
}
