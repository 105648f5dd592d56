import { expect, test } from 'vitest';
import type { FetchFailure } from '../../../../shared/task/fetch-failure.ts';
import { type Circumstances, judgeAnswer, judgeFailure, MOST_THROTTLES } from '../../../../shared/task/judgement.ts';
import type { Outcome } from '../../../../shared/task/outcome.ts';

const FIRST: Circumstances = { attempts: 0, maxAttempts: 3, throttles: 0, now: 0, random: 0.5 };
const LAST: Circumstances = { ...FIRST, attempts: 2 };

/** An outcome in a word or two: `retry timeout`, `defer 30000`. */
function short(outcome: Outcome): string {
  if (outcome.kind === 'defer') return `defer ${outcome.host?.pauseMs ?? ''}`.trim();
  return 'reason' in outcome ? `${outcome.kind} ${outcome.reason}` : outcome.kind;
}

test.each([
  // status  Retry-After   first attempt           last attempt         host in order?
  [200, undefined, 'done', 'done', true],
  [204, undefined, 'done', 'done', true],
  [304, undefined, 'skipped not_modified', 'skipped not_modified', true],
  [300, undefined, 'failed redirects', 'failed redirects', true],
  [400, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [401, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [403, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [404, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [410, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [408, undefined, 'retry http_4xx', 'failed http_4xx', true],
  [425, undefined, 'retry http_4xx', 'failed http_4xx', true],
  [429, undefined, 'defer 15000', 'defer 15000', false],
  [429, '120', 'defer 120000', 'defer 120000', false],
  [429, '0', 'defer 1000', 'defer 1000', false],
  [429, '999999', 'defer 3600000', 'defer 3600000', false],
  [500, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [502, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [503, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [503, '30', 'defer 30000', 'defer 30000', false],
  [504, undefined, 'retry http_5xx', 'failed http_5xx', false],
])('%i with Retry-After %s: %s, at last %s', (status, retryAfter, first, last, hostAnswered) => {
  const answer = { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } };
  const judged = [judgeAnswer(answer, FIRST), judgeAnswer(answer, LAST)];
  expect(judged.map(({ outcome }) => short(outcome))).toEqual([first, last]);
  expect(judged[0]?.hostAnswered).toBe(hostAnswered);
});

test.each<[FetchFailure, string, string, string, boolean | undefined]>([
  // reason             first attempt             second                    last                      host
  ['timeout', 'retry timeout', 'retry timeout', 'failed timeout', false],
  ['connection', 'retry connection', 'retry connection', 'failed connection', false],
  ['dns', 'retry dns', 'retry dns', 'failed dns', false],
  ['nxdomain', 'retry dns', 'failed dns', 'failed dns', false],
  ['tls', 'failed tls', 'failed tls', 'failed tls', false],
  ['redirects', 'failed redirects', 'failed redirects', 'failed redirects', true],
  ['bad_url', 'failed redirects', 'failed redirects', 'failed redirects', true],
  ['encoding', 'retry encoding', 'failed encoding', 'failed encoding', true],
  ['size', 'skipped size', 'skipped size', 'skipped size', true],
  ['content_type', 'skipped content_type', 'skipped content_type', 'skipped content_type', true],
  ['private_address', 'skipped private_address', 'skipped private_address', 'skipped private_address', undefined],
  ['aborted', 'defer', 'defer', 'defer', undefined],
])('%s: %s, then %s, at last %s', (reason, first, second, last, hostAnswered) => {
  const judged = [0, 1, 2].map((attempts) => judgeFailure(reason, 'why', { ...FIRST, attempts }));
  expect(judged.map(({ outcome }) => short(outcome))).toEqual([first, second, last]);
  expect(judged[0]?.hostAnswered).toBe(hostAnswered);
});

test('a host that says "slow down" without saying for how long is left alone twice as long each time', () => {
  const pauses = [0, 1, 2, 3, 10].map((throttles) =>
    short(judgeAnswer({ status: 429, headers: {} }, { ...FIRST, throttles }).outcome),
  );
  expect(pauses).toEqual(['defer 15000', 'defer 30000', 'defer 60000', 'defer 120000', 'defer 900000']);
});

test('a page that is always throttled begins to pay attempts, so that its run ends', () => {
  const throttled = { status: 429, headers: { 'retry-after': '5' } };
  expect(short(judgeAnswer(throttled, { ...FIRST, throttles: MOST_THROTTLES - 1 }).outcome)).toBe('defer 5000');
  expect(short(judgeAnswer(throttled, { ...FIRST, throttles: MOST_THROTTLES }).outcome)).toBe('retry http_4xx');
  expect(short(judgeAnswer(throttled, { ...LAST, throttles: MOST_THROTTLES }).outcome)).toBe('failed http_4xx');
});
