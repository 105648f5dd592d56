import { expect, test } from 'vitest';
import { biographyLines } from '../../../../../services/cli/text/biography.ts';
import type { RunChapter } from '../../../../../shared/control/biography.ts';
import type { PageRecord } from '../../../../../shared/ports/record.ts';

const URL_OF_PAGE = 'https://a.test/?p=1';
const [PAGE, TIME] = ['https://a.test/post/', '2026-11-26T14:48:52.000Z'];
const BY = '2026-11-26 14:48:52 by w, attempt 1';

function told(record: object): string | undefined {
  const chapter = { run: 'r', runState: 'finished', record: { worker: 'w', fetchedAt: TIME, attempt: 1, ...record } };
  const runs = [chapter as unknown as RunChapter];
  const about = { url: URL_OF_PAGE, mark: URL_OF_PAGE, known: false, attempts: [], letters: [], lettersProblem: null };
  return biographyLines({ ...about, runs }, { isLocal: true, hasOthers: false })[1];
}

// biome-ignore format: a table
test.each<[string, Partial<PageRecord>, string]>([
  ['a page',           { outcome: 'done', status: 200, finalUrl: URL_OF_PAGE },                              `done: HTTP 200, ${BY}.`],
  ['a redirect',       { outcome: 'done', status: 200, finalUrl: PAGE, redirects: [PAGE] },                  `done: HTTP 200 from ${PAGE}, which it is redirected to, ${BY}.`],
  ['a duplicate',      { outcome: 'skipped', reason: 'duplicate', error: `redirected to ${PAGE}, which is known` }, `skipped: duplicate, ${BY}: redirected to ${PAGE}, which is known.`],
  ['one of no reason', { outcome: 'skipped', reason: 'robots' },                                             `skipped: robots, ${BY}.`],
  ['a missing page',   { outcome: 'failed', reason: 'http_4xx', status: 404, error: 'HTTP 404' },            `failed: http_4xx (HTTP 404), ${BY}.`],
])('what became of %s is told with its reason', (_, record, text) => {
  expect(told(record)).toBe(`Run r (finished): ${text}`);
});
