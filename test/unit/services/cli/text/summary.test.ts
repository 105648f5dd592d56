import { expect, test } from 'vitest';
import type { Line } from '../../../../../services/cli/text/output.ts';
import { endingLine, exitCodeOf, summaryLines } from '../../../../../services/cli/text/summary.ts';
import {
  count,
  counted,
  duration,
  momentText,
  pace,
  perSecond,
  size,
  timeOfDay,
} from '../../../../../shared/control/format.ts';
import { summaryJson } from '../../../../../shared/control/summary-json.ts';
import type { LeftOut, RunOptions, RunProgress } from '../../../../../shared/ports/runs.ts';
import { FAST_RUN, progressOf } from '../../../../support/builders.ts';

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
  [timeOfDay(new Date(2026, 0, 1, 0, 5).getTime()), '00:05'],
  [momentText('2026-12-31T23:59:59.999Z'), '2026-12-31 23:59:59Z'],
  [momentText('2026-12-31T23:59:59+05:45'), '2026-12-31 18:14:59Z'],
  [momentText('some day'), 'some day'],
])('%s reads as %s', (text, expected) => {
  expect(text).toBe(expected);
});

test.each<[RunProgress['reasons']['skipped'], number, boolean]>([
  [{ robots: 1 }, 0, true],
  [{ content_type: 1, not_modified: 3 }, 0, true],
  [{ robots: 1 }, 1, false],
  [{ not_modified: 3 }, 0, false],
  [{ not_modified: 3, duplicate: 1 }, 0, false],
])('with %j skipped and %i done, whether the summary names the flag that says why: %s', (reasons, done, isNamed) => {
  const skipped = Object.values(reasons).reduce((sum, urls) => sum + urls, 0);
  const progress = progressOf({
    state: 'finished',
    done,
    skipped,
    endedAt: 1,
    reasons: { failed: {}, skipped: reasons },
  });
  const lines = summaryLines(progress, { records: 'output/r' }).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  expect(lines.some((line) => /^What was skipped, and why: .* --skipped$/.test(line))).toBe(isNamed);
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

test('the summary for people lists the outcomes, reasons and next commands', () => {
  expect(
    `${textsOf(summaryLines(ENDED, { records: 'output/r' })).join('\n')}\n`,
  ).toBe(`Run r finished after 12 s: 14 pages, 48.8 MiB, 1.14 pages/s
        14 done
         1 skipped: content_type 1
         5 failed: http_4xx 3, timeout 2
         7 known already
Records: output/r (read them with: trawl records r)
What failed, and why: trawl records r --failed
`);
});

test('records in another folder are read with the flag that names it', () => {
  const told = textsOf(summaryLines(ENDED, { records: 'out/r', recordsFlag: ' --output-dir out' }));
  expect(told.slice(-2)).toEqual([
    'Records: out/r (read them with: trawl records r --output-dir out)',
    'What failed, and why: trawl records r --output-dir out --failed',
  ]);
});

test('the summary names the command for failures only if there are any', () => {
  const failures = progressOf({
    state: 'finished',
    failed: 1,
    endedAt: 1,
    reasons: { failed: { http_4xx: 1 }, skipped: {} },
  });
  expect(textsOf(summaryLines(failures, { records: 'output/r' })).at(-1)).toBe(
    'What failed, and why: trawl records r --failed',
  );
  const { failed: _, ...others } = ENDED;
  const told = textsOf(summaryLines({ ...others, failed: 0 }, { records: 'output/r' }));
  expect(told.join('\n')).not.toContain('--failed');
});

test('failures are red, and so is the first line of a run that has only failures', () => {
  const [ending, ...rows] = summaryLines(ENDED);
  expect(ending).toMatchObject({ mark: 'success' });
  expect(rows.filter((row) => typeof row !== 'string')).toEqual([
    { text: '         5 failed: http_4xx 3, timeout 2', colour: 'red' },
  ]);
  const [bad] = summaryLines(progressOf({ state: 'finished', failed: 2, endedAt: 1 }));
  expect(bad).toMatchObject({ mark: 'failure', colour: 'red' });
});

test('an interrupted run is shown as stopped, not as running', () => {
  const progress = progressOf({ discovered: 2, done: 1, waiting: 1 });
  const [ending] = summaryLines(progress, { isInterrupted: true });
  expect(ending).toEqual({ text: 'Run r stopped after 10 s: 1 page, 0 B, 0.10 pages/s', mark: 'warning' });
  expect(endingLine({ ...progress, stoppedAt: 10_000 }), 'later').toMatch(/^Run r stopped after 10 s/);
  expect(summaryJson(progress, { isInterrupted: true })).toMatchObject({ state: 'running', interrupted: true });
  expect(summaryJson(progress)).not.toHaveProperty('interrupted');
});

test('the summary of a run of only duplicates says so', () => {
  expect(summaryLines(progressOf({ state: 'finished', duplicate: 512, endedAt: 1 }))).toContain(
    '512 known, nothing new; --fresh crawls them again',
  );
  const local = { isLocal: true };
  expect(summaryLines(progressOf({ state: 'finished', duplicate: 512, endedAt: 1 }), local)).toContain(
    '512 known, nothing new; without --dedup ever, they are crawled again',
  );
});

test('the summary of a run that reached --max-pages says so', () => {
  const options = { ...ENDED.options, follow: true, maxPages: 20 };
  expect(summaryLines({ ...ENDED, options })).toContain('It reached its limit of 20 pages (--max-pages).');
  expect(summaryJson({ ...ENDED, options })).toMatchObject({ maxPagesReached: true });
  expect(summaryLines({ ...ENDED, options: { ...options, maxPages: 21 } }).join('\n')).not.toContain('--max-pages');
});

test('joins don’t count towards --max-pages, which also applies to a crawler with steps without --follow', () => {
  const counts = (discovered: number) => ({ discovered, done: 0, skipped: 0, failed: 0 });
  const joins = { joins: { offer: { per: '', of: [''] } }, groups: {}, owners: {}, run: [] };
  const options = { ...ENDED.options, follow: false, joins, maxPages: 15 };
  const steps = { price: counts(5), offer: counts(5) };
  expect(summaryJson({ ...ENDED, options, steps })).toMatchObject({ maxPagesReached: true });
  expect(summaryJson({ ...ENDED, options: { ...options, maxPages: 16 }, steps })).not.toHaveProperty('maxPagesReached');
  expect(summaryJson({ ...ENDED, options })).not.toHaveProperty('maxPagesReached');
});

test('the summary says that --max-pages was reached if it left out links, even without --follow', () => {
  const options = { ...ENDED.options, follow: false, maxPages: 20 };
  const leftOut = { ...ENDED.leftOut, maxPages: 1 };
  expect(summaryLines({ ...ENDED, options, leftOut })).toContain(
    'It reached its limit of 20 pages: 1 link was left out (--max-pages).',
  );
  expect(summaryJson({ ...ENDED, options, leftOut })).toMatchObject({ maxPagesReached: true });
});

// biome-ignore format: a table
test.each<[string, Partial<LeftOut>, Partial<RunOptions>, string | undefined]>([
  ['nothing',              {},                 { limit: 20, maxDepth: 1 },              undefined],
  ['a limit',              { limit: 1_200 },   { limit: 20 },                           'It took its first 20 URLs: 1 200 more were left out (--limit).'],
  ['too many pages',       { maxPages: 1 },    { follow: true, maxPages: 20 },          'It reached its limit of 20 pages: 1 link was left out (--max-pages).'],
  ['a depth',              { depth: 2 },       { maxDepth: 1 },                         '2 links more than 1 deep were left out (--max-depth).'],
  ['the default depth',    { depth: 1 },       { follow: true, hasDefaultDepth: true }, '1 link more than 3 deep was left out (the default depth; --max-depth changes it).'],
  ['the rounds of steps',  { depth: 1 },       { hasDefaultDepth: true },               '1 link more than 1 000 rounds deep was left out (the default depth; --max-depth changes it).'],
  ['a scope',              { scope: 40 },      {},                                      '40 links outside its scope were left out (--scope host).'],
  ['a scope with bounds',  { scope: 40 },      { scope: 'domain', exclude: ['/a'], maxHostsPerDomain: 9 }, '40 links outside its scope were left out (--scope domain, --exclude, --max-hosts-per-domain 9).'],
])('links left out are shown with their flag: %s', (_, some, options, sentence) => {
  const leftOut = { ...ENDED.leftOut, ...some };
  const progress = { ...ENDED, options: { ...ENDED.options, ...options }, leftOut };
  expect(textsOf(summaryLines(progress)).filter((line) => line.endsWith(').'))).toEqual(sentence === undefined ? [] : [sentence]);
  expect(summaryJson(progress)).toMatchObject({ leftOut });
});

test('known URLs are shown with the flag that crawls them again if runs share their marks', () => {
  const known = (options: Partial<RunOptions>, isLocal = false) =>
    textsOf(summaryLines({ ...ENDED, options: { ...ENDED.options, ...options } }, { isLocal })).find((line) =>
      line.includes('known'),
    );
  expect(known({ dedup: 'ever' })?.trim()).toBe(
    '7 known already; with --fresh, those of earlier runs are crawled again',
  );
  expect(known({ dedup: 'ever' }, true)).toContain('; without --dedup ever, those of earlier runs are crawled again');
  expect(known({ dedup: 'run' })?.trim()).toBe('7 known already');
});

test('a run without a URL says so once it has ended', () => {
  expect(summaryLines(progressOf({ state: 'finished', endedAt: 1 }))).toContain('The seeds contained no URL to crawl.');
  expect(summaryLines(progressOf({ state: 'running' }))).toHaveLength(1);
});

test('hosts that were given up are listed with the reason and the flag that changes it', () => {
  const named = [
    { host: 'a.test', kind: 'silent', reason: 'connection refused' },
    { host: 'b.test', kind: 'answered', reason: 'robots.txt 503' },
    { host: 'c.test', kind: 'outage', reason: 'no answer' },
  ] as const;
  const one = { count: 1, named: named.slice(0, 1) };
  expect(textsOf(summaryLines(progressOf({ hostsDown: { count: 12, named } }))).slice(1)).toEqual([
    '12 hosts were given up: a.test (never answered: connection refused), b.test (robots.txt 503), ' +
      'c.test (no answer, nor from any other: the network may have been down) and 9 more.',
    'A host that never answers is given up after a minute, others after --host-give-up; trawl records r --failed lists their URLs.',
  ]);
  expect(textsOf(summaryLines(progressOf({ hostsDown: one })))[1]).toBe(
    '1 host was given up: a.test (never answered: connection refused).',
  );
});

test('the summary names --private-hosts if pages were skipped for a private address', () => {
  const reasons = { failed: {}, skipped: { private_address: 3 } };
  expect(summaryLines(progressOf({ state: 'finished', skipped: 3, reasons })).join('\n')).toContain('--private-hosts');
  expect(summaryLines(ENDED).join('\n')).not.toContain('--private-hosts');
});

test('the summary names the way to store files if nothing but their types was answered', () => {
  const reasons = { failed: {}, skipped: { content_type: 3 } };
  const ended = progressOf({ state: 'finished', done: 0, skipped: 3, reasons });
  expect(summaryLines(ended).join('\n')).toContain("patterns: { download: '*' }");
  expect(summaryLines({ ...ended, done: 1 }).join('\n')).not.toContain('download');
});

test('the summary for scripts has exactly these fields', () => {
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
    hostsDown: { count: 0, named: [] },
    leftOut: { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 },
    bytes: 51_200_000,
    bytesSaved: 0,
    seconds: 12.3,
    pagesPerSecond: 1.14,
    records: 14,
  });
});

const NO_LINKS =
  'No link was followed: the page has none, or forbids it (nofollow). Links added by JavaScript are not seen.';
const LEFT_OUT: LeftOut = { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 };

// biome-ignore format: a table
test.each<[string, Partial<RunProgress>, boolean]>([
  ['one page',                      {},                                           true],
  ['two pages',                     { discovered: 2, done: 2 },                   false],
  ['a page of links to itself',     { duplicate: 1 },                             false],
  ['a page of links to elsewhere',  { leftOut: { ...LEFT_OUT, scope: 3 } },       false],
  ['a page that failed',            { done: 0, failed: 1 },                       false],
  ['a page whose links wait',       { state: 'paused' },                          false],
])('the summary says that no link was followed only after a single finished page: %s', (_, extra, isTold) => {
  const alone = { state: 'finished', discovered: 1, done: 1, ...extra } as const;
  const lines = (follow: boolean) => textsOf(summaryLines(progressOf({ options: { ...FAST_RUN, follow }, ...alone })));
  expect([lines(true).includes(NO_LINKS), lines(false).includes(NO_LINKS)]).toEqual([isTold, false]);
});

function refused(count: number): RunProgress['reasons'] {
  return { failed: {}, skipped: { private_address: count } };
}

test.each<[string, Partial<RunProgress>, boolean, number]>([
  ['pages and failures', { done: 5, failed: 2 }, false, 0],
  ['the same, strictly', { done: 5, failed: 2 }, true, 3],
  ['pages only, strictly', { done: 5 }, true, 0],
  ['failures only', { failed: 2 }, false, 1],
  ['nothing at all', {}, true, 0],
  ['skipped and failed', { skipped: 1, failed: 2 }, false, 0],
  ['refused as private only', { skipped: 2, reasons: refused(2) }, false, 1],
  ['refused as private and failed', { skipped: 2, failed: 1, reasons: refused(2) }, false, 1],
  ['refused as private and skipped', { skipped: 2, reasons: refused(1) }, false, 0],
  ['refused as private and pages', { done: 1, skipped: 2, reasons: refused(2) }, false, 0],
])('%s: exit %4$i', (_, counters, strict, code) => {
  expect(exitCodeOf(progressOf(counters), strict)).toBe(code);
});

// biome-ignore format: a table
test.each<[string, boolean, Partial<RunProgress>]>([
  ['no answer',                true,  { failed: 2, reasons: { failed: { dns: 1, timeout: 1 }, skipped: {} } }],
  ['a silent host',            true,  { failed: 1, reasons: { failed: { host_down: 1 }, skipped: {} }, hostsDown: { count: 1, named: [{ host: 'a.example', kind: 'silent', reason: 'connection refused' }] } }],
  ['a host that gave errors',  false, { failed: 1, reasons: { failed: { host_down: 1 }, skipped: {} }, hostsDown: { count: 1, named: [{ host: 'a.example', kind: 'answered', reason: 'HTTP 500' }] } }],
  ['an answer',                false, { failed: 2, reasons: { failed: { dns: 1, http_4xx: 1 }, skipped: {} } }],
  ['a page',                   false, { failed: 1, done: 1, reasons: { failed: { dns: 1 }, skipped: {} } }],
  ['nothing to do',            false, {}],
])('after %s, a proxy that was not read is named: %s', (_, isNamed, progress) => {
  const lines = textsOf(summaryLines(progressOf({ state: 'finished', endedAt: 1, ...progress }), { unreadProxy: 'HTTP_PROXY' }));
  expect(lines.some((line) => line.includes('--proxy-url "$HTTP_PROXY"'))).toBe(isNamed);
});
