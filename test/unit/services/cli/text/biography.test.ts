import { expect, test } from 'vitest';
import { biographyLines } from '../../../../../services/cli/text/biography.ts';
import type { Biography, RunChapter } from '../../../../../shared/control/urls/biography.ts';
import { unknownUrl } from '../../../../../shared/control/urls/unknown-url.ts';
import type { PageRecord } from '../../../../../shared/ports/record.ts';
import type { LeftOut, RunOptions, RunProgress } from '../../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../../support/builders.ts';

const URL_OF_PAGE = 'https://a.test/?p=1';
const [PAGE, TIME] = ['https://a.test/post/', '2026-11-26T14:48:52.000Z'];
const BY = '2026-11-26 14:48:52Z by w, attempt 1';

function told(record: object): string | undefined {
  return toldOf({ record: { worker: 'w', fetchedAt: TIME, attempt: 1, ...record } });
}

function toldOf(about: object): string | undefined {
  const chapter = { run: 'r', runState: 'finished', ...about };
  const runs = [chapter as unknown as RunChapter];
  return biographyLines({ ...KNOWN_NOWHERE, runs }, { isLocal: true, hasOthers: false })[1];
}

const KNOWN_NOWHERE: Biography = {
  ...{ url: URL_OF_PAGE, mark: URL_OF_PAGE, known: false, runs: [], truncated: false },
  ...{ attempts: [], letters: [], lettersProblem: null },
};

test('a biography of very many runs names only the newest as searched', () => {
  const linesOf = (truncated: boolean, isLocal: boolean): string[] =>
    biographyLines({ ...KNOWN_NOWHERE, truncated }, { isLocal, hasOthers: false });
  expect(linesOf(false, false)).toContain('No run in Redis knows more about it.');
  expect(linesOf(true, false)).toContain('None of the 20 000 newest runs in Redis knows more about it.');
  expect(linesOf(false, true)).toContain('No crawl on this machine knows it.');
  expect(linesOf(true, true)).toContain('None of the 20 000 newest crawls on this machine knows it.');
});

// biome-ignore format: a table
test.each<[string, Partial<PageRecord>, string]>([
  ['a page',           { outcome: 'done', status: 200, finalUrl: URL_OF_PAGE },                              `done: HTTP 200, ${BY}.`],
  ['a redirect',       { outcome: 'done', status: 200, finalUrl: PAGE, redirects: [PAGE] },                  `done: HTTP 200 from ${PAGE}, to which it redirects, ${BY}.`],
  ['a duplicate',      { outcome: 'skipped', reason: 'duplicate', error: `redirected to ${PAGE}, which is known` }, `skipped: duplicate, ${BY}: redirected to ${PAGE}, which is known.`],
  ['a page without an error', { outcome: 'skipped', reason: 'robots' },                                             `skipped: robots, ${BY}.`],
  ['a missing page',   { outcome: 'failed', reason: 'http_4xx', status: 404, error: 'HTTP 404' },            `failed: http_4xx (HTTP 404), ${BY}.`],
])('the outcome of %s is shown with its reason', (_, record, text) => {
  expect(told(record)).toBe(`Run r (finished): ${text}`);
});

const NONE: LeftOut = { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 };
const FOLLOWS = { ...FAST_RUN, follow: true, maxDepth: 2 };

// biome-ignore format: a table
test.each<[string, Partial<RunOptions>, Partial<LeftOut>, string]>([
  ['is excluded',             { exclude: ['/news/*', '*?p=*'] },           { scope: 3 }, 'links to it are left out by --exclude *?p=*.'],
  ['is included and excluded',                 { include: ['/*'], exclude: ['*p=1'] },      { scope: 3 }, 'links to it are left out by --exclude *p=1.'],
  ['no pattern includes',     { include: ['/news/*', '/blog/*'] },         { scope: 3 }, 'links to it are left out, since no --include matches it.'],
  ['may be too deep',         { include: ['*p=1'] },                       { depth: 2 }, 'no page has linked to it, or the link was left out. 2 links more than 2 deep were left out (--max-depth).'],
  ['may be elsewhere',        { scope: 'path' },                           { scope: 1 }, 'no page has linked to it, or the link was left out. 1 link outside its scope was left out (--scope path).'],
  ['no page has led to',      {},                                          {},           'no page has linked to it, and no link was left out.'],
  ['is followed by no link',  { follow: false },                           {},           'it follows no links, except where a step does (--follow).'],
])('for an unknown URL that %s, a run names the rule', (_, options, leftOut, text) => {
  const progress = { options: { ...FOLLOWS, ...options }, leftOut: { ...NONE, ...leftOut }, discovered: 9 };
  const unknown = unknownUrl(URL_OF_PAGE, progress as unknown as RunProgress);
  expect(toldOf({ isMarked: false, hasFailed: false, unknown })).toBe(`Run r (finished): not known; ${text}`);
});

// biome-ignore format: a table
test.each([
  ['product/1',      'since it has no scheme, and no such text was refused as malformed: write the URL in full, like https://www.example.com/product/1'],
  ['www.a.test/p',   'since it has no scheme, and no such text was refused as malformed: did you mean https://www.a.test/p'],
  ['localhost:80/p', 'since its scheme is localhost, not http or https, and no such text was refused as malformed: did you mean https://localhost:80/p'],
])('for %s, which is not a URL, the biography says how to write one', (url, text) => {
  const chapter = { run: 'r', runState: 'finished', isMarked: false, hasFailed: false };
  const rest = { url, mark: url, known: false, truncated: false, attempts: [], letters: [], lettersProblem: null };
  const lines = biographyLines({ ...rest, runs: [chapter as unknown as RunChapter] }, { isLocal: true, hasOthers: false });
  expect(lines.slice(1)).toEqual(['Run r (finished): not known.', `It is not a URL, ${text}`]);
});

test('the command to show a dead letter quotes its id for the shell', () => {
  const letters = [{ id: '$(id)', reason: 'malformed', failedAt: TIME }];
  const lines = biographyLines({ ...KNOWN_NOWHERE, letters }, { isLocal: false, hasOthers: false });
  expect(lines.at(-1)).toMatch(/ \(trawl dlq show '\$\(id\)'\)$/);
});

test('a page whose record is elsewhere is shown with what robots.txt says now', () => {
  const forbidden = 'robots.txt forbids it (User-agent: *, Disallow: /)';
  expect(toldOf({ isMarked: true, hasOwnMarks: true, forbidden })).toBe(
    `Run r (finished): done or skipped; its records are not on this machine. Currently, ${forbidden}.`,
  );
});

test('a run whose crawler makes joins is not said to lack a URL that a group may have', () => {
  const joins = { joins: {} };
  const progress = { options: { follow: false, joins }, leftOut: {}, discovered: 2, steps: {} };
  const unknown = unknownUrl(URL_OF_PAGE, progress as unknown as RunProgress);
  expect(toldOf({ isMarked: false, hasFailed: false, unknown })).toContain(
    `A group may have it: trawl records r --all --where 'url=${URL_OF_PAGE}'`,
  );
});

test('what a later step made of a URL is told with its name', () => {
  expect(toldOf({ step: 'product', isMarked: true, hasOwnMarks: true })).toBe(
    'Run r (finished), step product: done or skipped; its records are not on this machine.',
  );
});

test('the rule named for an unknown URL allows for patterns of steps', () => {
  const progress = { options: { ...FOLLOWS, exclude: ['*p=1'] }, leftOut: NONE, discovered: 9, steps: {} };
  const unknown = unknownUrl(URL_OF_PAGE, progress as unknown as RunProgress);
  expect(toldOf({ unknown })).toContain('left out by --exclude *p=1, unless a step has patterns of its own.');
});
