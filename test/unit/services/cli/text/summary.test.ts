import { expect, test } from 'vitest';
import type { Line } from '../../../../../services/cli/text/output.ts';
import { exitCodeOf, summaryJson, summaryLines } from '../../../../../services/cli/text/summary.ts';
import { count, counted, duration, pace, perSecond, size } from '../../../../../shared/control/format.ts';
import { progressOf } from '../../../../support/builders.ts';

test.each([
  [count(0), '0'],
  [count(4_812), '4 812'],
  [count(12_345_678), '12 345 678'],
  [counted(0, 'page'), '0 pages'],
  [counted(1, 'page'), '1 page'],
  [counted(1.4, 'query', 'queries'), '1 query'],
  [counted(4_812, 'query', 'queries'), '4 812 queries'],
  [perSecond(0.333), '0.33'],
  [perSecond(12.34), '12.3'],
  [perSecond(1_234.5), '1 235'],
  [size(0), '0 B'],
  [size(1_023), '1023 B'],
  [size(1_536), '1.5 KiB'],
  [size(51_200_000), '48.8 MiB'],
  [duration(400), '0.4 s'],
  [duration(52_000), '52 s'],
  [duration(200_000), '3 min 20 s'],
  [duration(4_800_000), '1 h 20 min'],
  [duration(7_200_000), '2 h'],
  [duration(1_000_000_000), '11 d 13 h'],
  [pace(1_000), '60/min'],
  [pace(100), '600/min'],
  [pace(36_000), '1.7/min'],
  [pace(120_000), '30/h'],
])('%s reads as %s', (text, expected) => {
  expect(text).toBe(expected);
});

const ENDED = progressOf({
  state: 'finished',
  discovered: 20,
  done: 14,
  skipped: 1,
  failed: 5,
  duplicate: 7,
  bytes: 51_200_000,
  endedAt: 12_300,
  reasons: { failed: { timeout: 2, http_4xx: 3 }, skipped: { content_type: 1 } },
});

function textsOf(lines: readonly Line[]): string[] {
  return lines.map((line) => (typeof line === 'string' ? line : line.text));
}

test('a summary for people', () => {
  expect(
    `${textsOf(summaryLines(ENDED, { records: 'output/r' })).join('\n')}\n`,
  ).toBe(`Run r finished after 12 s: 14 pages, 48.8 MiB, 1.14 pages/s
        14 done
         1 skipped: content_type 1
         5 failed: http_4xx 3, timeout 2
         7 known already
Records: output/r (read them with: trawl records r)
`);
});

test('failures are red, and so is a run of nothing else', () => {
  const [ending, ...rows] = summaryLines(ENDED);
  expect(ending).toMatchObject({ mark: 'success' });
  expect(rows.filter((row) => typeof row !== 'string')).toEqual([
    { text: '         5 failed: http_4xx 3, timeout 2', colour: 'red' },
  ]);
  const [bad] = summaryLines(progressOf({ state: 'finished', failed: 2, endedAt: 1 }));
  expect(bad).toMatchObject({ mark: 'failure', colour: 'red' });
});

test('a run that somebody stopped is stopped, not running', () => {
  const progress = progressOf({ discovered: 2, done: 1, waiting: 1 });
  const [ending] = summaryLines(progress, { isInterrupted: true });
  expect(ending).toEqual({ text: 'Run r stopped after 10 s: 1 page, 0 B, 0.10 pages/s', mark: 'warning' });
  expect(summaryJson(progress, { isInterrupted: true })).toMatchObject({ state: 'running', interrupted: true });
  expect(summaryJson(progress)).not.toHaveProperty('interrupted');
});

test('a run of only duplicates says so', () => {
  expect(summaryLines(progressOf({ state: 'finished', duplicate: 512, endedAt: 1 }))).toContain(
    '512 known, nothing new; --fresh crawls them again',
  );
  const local = { isLocal: true };
  expect(summaryLines(progressOf({ state: 'finished', duplicate: 512, endedAt: 1 }), local)).toContain(
    '512 known, nothing new; without --dedup ever, they are crawled again',
  );
});

test('a run that has all the pages that it may have says so', () => {
  const options = { ...ENDED.options, follow: true, maxPages: 20 };
  expect(summaryLines({ ...ENDED, options })).toContain(
    'It reached its limit of 20 pages: further links were left out (--max-pages).',
  );
  expect(summaryJson({ ...ENDED, options })).toMatchObject({ maxPagesReached: true });
  expect(summaryLines({ ...ENDED, options: { ...options, maxPages: 21 } }).join('\n')).not.toContain('--max-pages');
});

test('links that were left out for their host are told', () => {
  const progress = { ...ENDED, leftOut: { scope: 1_200 } };
  expect(summaryLines(progress)).toContain(
    '1 200 links to further hosts of a domain were left out (--max-hosts-per-domain).',
  );
  expect(summaryJson(progress)).toMatchObject({ leftOut: { scope: 1_200 } });
  expect(summaryJson(ENDED)).not.toHaveProperty('leftOut');
});

test('who was refused a private address is told what opens it', () => {
  const reasons = { failed: {}, skipped: { private_address: 3 } };
  expect(summaryLines(progressOf({ state: 'finished', skipped: 3, reasons })).join('\n')).toContain('--private-hosts');
  expect(summaryLines(ENDED).join('\n')).not.toContain('--private-hosts');
});

test('a summary for scripts has exactly these fields', () => {
  expect(summaryJson(ENDED)).toEqual({
    run: 'r',
    state: 'finished',
    discovered: 20,
    duplicate: 7,
    waiting: 0,
    inFlight: 0,
    done: 14,
    skipped: 1,
    failed: 5,
    cancelled: 0,
    reasons: { failed: { timeout: 2, http_4xx: 3 }, skipped: { content_type: 1 } },
    bytes: 51_200_000,
    bytesSaved: 0,
    seconds: 12.3,
    pagesPerSecond: 1.14,
    records: 14,
  });
});

test.each([
  ['pages and failures', { done: 5, failed: 2 }, false, 0],
  ['the same, strictly', { done: 5, failed: 2 }, true, 3],
  ['pages only, strictly', { done: 5 }, true, 0],
  ['failures only', { failed: 2 }, false, 1],
  ['nothing at all', {}, true, 0],
  ['skipped and failed', { skipped: 1, failed: 2 }, false, 0],
])('%s: exit %4$i', (_, counters, strict, code) => {
  expect(exitCodeOf(progressOf(counters), strict)).toBe(code);
});
