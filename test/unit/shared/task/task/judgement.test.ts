import { expect, test } from 'vitest';
import type { FetchFailure } from '../../../../../shared/task/task/fetch-failure.ts';
import {
  type Circumstances,
  judgeAnswer,
  judgeFailure,
  judgeTaken,
  MOST_THROTTLES,
} from '../../../../../shared/task/task/judgement.ts';
import type { Outcome } from '../../../../../shared/task/task/outcome.ts';

const FIRST: Circumstances = { attempts: 0, maxAttempts: 3, throttles: 0, answersOthers: false, now: 0, random: 0.5 };
const LAST: Circumstances = { ...FIRST, attempts: 2 };

/** An outcome in a word or two: `retry timeout`, `defer 30000`, or `defer longer` when the host didn't say for how long. */
function short(outcome: Outcome): string {
  if (outcome.kind === 'defer')
    return outcome.host === undefined ? 'defer' : `defer ${outcome.host.pauseMs ?? 'longer'}`;
  return 'reason' in outcome ? `${outcome.kind} ${outcome.reason}` : outcome.kind;
}

test.each([
  // status  Retry-After   first attempt           last attempt         host answered?
  [200, undefined, 'done', 'done', true],
  [204, undefined, 'done', 'done', true],
  [299, undefined, 'done', 'done', true],
  [304, undefined, 'skipped not_modified', 'skipped not_modified', true],
  [300, undefined, 'failed redirects', 'failed redirects', true],
  [399, undefined, 'failed redirects', 'failed redirects', true],
  [400, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [401, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [403, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [404, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [404, '120', 'failed http_4xx', 'failed http_4xx', true],
  [410, undefined, 'failed http_4xx', 'failed http_4xx', true],
  [408, undefined, 'retry http_4xx', 'failed http_4xx', true],
  [425, undefined, 'retry http_4xx', 'failed http_4xx', true],
  [429, undefined, 'defer longer', 'defer longer', false],
  [429, '120', 'defer 120000', 'defer 120000', false],
  [429, '0', 'defer 1000', 'defer 1000', false],
  [429, '999999', 'defer 3600000', 'defer 3600000', false],
  [500, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [500, '30', 'defer 30000', 'defer 30000', false],
  [502, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [503, undefined, 'retry http_5xx', 'failed http_5xx', false],
  [503, '30', 'defer 30000', 'defer 30000', false],
  [504, undefined, 'retry http_5xx', 'failed http_5xx', false],
])(
  'status %i with Retry-After %s: %s at first, %s at the last attempt',
  (status, retryAfter, first, last, hostAnswered) => {
    const answer = { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } };
    const judged = [judgeAnswer(answer, FIRST), judgeAnswer(answer, LAST)];
    expect(judged.map(({ outcome }) => short(outcome))).toEqual([first, last]);
    expect(judged[0]?.hostAnswered).toBe(hostAnswered);
  },
);

test.each([
  // status  Retry-After   host answered?   pause     slowed       fault
  [404, undefined, true, undefined, undefined, undefined],
  [404, '120', true, undefined, undefined, undefined],
  [408, undefined, true, undefined, undefined, undefined],
  [429, undefined, false, 15_000, 'HTTP 429', undefined],
  [429, '120', false, 120_000, undefined, undefined],
  [429, '0', false, 1_000, undefined, undefined],
  [429, '999999', false, 3_600_000, undefined, undefined],
  [500, undefined, true, undefined, undefined, undefined],
  [500, '30', false, 30_000, undefined, undefined],
  [502, undefined, true, undefined, undefined, undefined],
  [503, undefined, false, undefined, 'HTTP 503', 'answers of 5xx'],
  [503, '30', false, 30_000, undefined, undefined],
])(
  'a step that takes %i with Retry-After %s is done',
  (status, retryAfter, hostAnswered, pauseMs, slowDown, hostFault) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const judged = judgeTaken({ status, headers }, 0);
    expect(judged.outcome).toEqual({ kind: 'done' });
    const found = [judged.hostAnswered, judged.hostTrouble?.pauseMs, judged.slowDown, judged.hostFault];
    expect(found).toEqual([hostAnswered, pauseMs, slowDown, hostFault]);
  },
);

test('a 304 to an unconditional request is retried, and fails at the last attempt', () => {
  const answer = { status: 304, headers: {} };
  const judged = [FIRST, LAST].map((about) => judgeAnswer(answer, { ...about, isUnconditional: true }));
  expect(judged.map(({ outcome }) => short(outcome))).toEqual(['retry redirects', 'failed redirects']);
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
  ['network', 'defer', 'defer', 'defer', false],
  ['exhausted', 'defer', 'defer', 'defer', undefined],
  ['proxy', 'defer', 'defer', 'defer', undefined],
  ['aborted', 'defer', 'defer', 'defer', undefined],
])('failure %s: %s at first, then %s, %s at the last attempt', (reason, first, second, last, hostAnswered) => {
  const judged = [0, 1, 2].map((attempts) => judgeFailure({ reason, message: 'why' }, { ...FIRST, attempts }));
  expect(judged.map(({ outcome }) => short(outcome))).toEqual([first, second, last]);
  expect(judged[0]?.hostAnswered).toBe(hostAnswered);
});

test.each([
  // status  Retry-After   counts for the breaker   slows the host down
  [200, undefined, undefined, undefined],
  [404, undefined, undefined, undefined],
  [408, undefined, undefined, undefined],
  [429, undefined, undefined, 'HTTP 429'],
  [429, '5', undefined, undefined],
  [500, undefined, 'answers of 500', undefined],
  [502, undefined, 'answers of 5xx', undefined],
  [503, undefined, 'answers of 5xx', 'HTTP 503'],
  [503, '5', undefined, undefined],
])(
  'status %i with Retry-After %s: the host fault is %s, the slow-down %s',
  (status, retryAfter, hostFault, slowDown) => {
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const judged = judgeAnswer({ status, headers }, FIRST);
    expect([judged.hostFault, judged.slowDown]).toEqual([hostFault, slowDown]);
  },
);

test.each<[FetchFailure, string | undefined]>([
  ['timeout', 'time-outs'],
  ['connection', 'connection errors'],
  ['dns', 'failed look-ups'],
  ['nxdomain', 'failed look-ups'],
  ['tls', 'failed handshakes'],
  ['network', undefined],
  ['encoding', undefined],
  ['size', undefined],
  ['redirects', undefined],
  ['aborted', undefined],
])('failure %s: the host fault is %s', (reason, hostFault) => {
  expect(judgeFailure({ reason, message: 'why' }, FIRST).hostFault).toBe(hostFault);
});

test.each<[FetchFailure, string, number | undefined, string | undefined]>([
  // reason   message                              status     kind of trouble, and why
  ['timeout', 'it took too long', undefined, 'silent: time-outs'],
  ['timeout', 'its body took too long', 200, 'answered: time-outs'],
  ['connection', 'connect ECONNREFUSED 192.0.2.1:80', undefined, 'silent: connection refused'],
  ['connection', 'read ECONNRESET', undefined, 'silent: connection errors'],
  ['dns', 'EAI_AGAIN', undefined, 'silent: failed look-ups'],
  ['nxdomain', 'ENOTFOUND', undefined, 'silent: no such name'],
  ['tls', 'it has expired', undefined, 'silent: failed TLS handshakes'],
  ['network', 'no host answers', undefined, 'outage: no answer'],
  ['size', 'too long', 200, undefined],
  ['exhausted', 'EMFILE', undefined, undefined],
])('failure %s (%s, status %s): the host trouble is %s', (reason, message, status, expected) => {
  const { hostTrouble } = judgeFailure({ reason, message, status }, FIRST);
  expect(hostTrouble && `${hostTrouble.kind}: ${hostTrouble.reason}`).toBe(expected);
});

test('a host that answers with an error does not count as silent', () => {
  expect(judgeAnswer({ status: 503, headers: {} }, FIRST).hostTrouble).toEqual({
    kind: 'answered',
    reason: 'HTTP 503',
  });
  expect(judgeAnswer({ status: 404, headers: {} }, FIRST).hostTrouble).toBeUndefined();
});

// biome-ignore format: a table
test.each<[string, Partial<Circumstances>, string, string | undefined]>([
  // it was throttled before                  and then                    outcome               slows the host down
  ['never, by a host that answers others',    { answersOthers: true },                                'defer HTTP 429',     'HTTP 429'],
  ['once, by a host that answers nobody',     { throttles: 1 },                                       'defer HTTP 429',     'HTTP 429'],
  ['5 times, by a host that answers nobody',  { throttles: 5 },                                       'defer HTTP 429',     'HTTP 429'],
  ['once',                                    { throttles: 1, answersOthers: true },                  'defer alone 30000',  undefined],
  ['twice',                                   { throttles: 2, answersOthers: true },                  'defer alone 60000',  undefined],
  ['4 times',                                 { throttles: 4, answersOthers: true },                  'defer alone 240000', undefined],
  ['5 times',                                 { throttles: 5, answersOthers: true },                  'retry http_4xx',     undefined],
  ['5 times, at its last attempt',            { throttles: 5, answersOthers: true, attempts: 2 },     'failed http_4xx',    undefined],
  ['15 times, by a host that answers nobody', { throttles: 15 },                                      'retry http_4xx',     undefined],
])('429 without Retry-After, throttled before: %s, %o', (_, about, expected, slowDown) => {
  const { outcome, ...judged } = judgeAnswer({ status: 429, headers: {} }, { ...FIRST, ...about });
  const alone = outcome.kind === 'defer' && outcome.throttled ? `defer alone ${outcome.inMs}` : undefined;
  const host = outcome.kind === 'defer' && outcome.host ? `defer ${outcome.host.reason}` : undefined;
  expect([alone ?? host ?? short(outcome), judged.slowDown]).toEqual([expected, slowDown]);
  expect(judged.hostAnswered).toBe(false);
});

test('a Retry-After is honoured, however often the page was throttled and whatever other pages get', () => {
  const throttled = { status: 429, headers: { 'retry-after': '5' } };
  expect(short(judgeAnswer(throttled, { ...FIRST, throttles: 14, answersOthers: true }).outcome)).toBe('defer 5000');
});

test('a page that is always throttled is charged attempts in the end, so that its run ends', () => {
  const throttled = { status: 429, headers: { 'retry-after': '5' } };
  expect(short(judgeAnswer(throttled, { ...FIRST, throttles: MOST_THROTTLES - 1 }).outcome)).toBe('defer 5000');
  expect(short(judgeAnswer(throttled, { ...FIRST, throttles: MOST_THROTTLES }).outcome)).toBe('retry http_4xx');
  expect(short(judgeAnswer(throttled, { ...LAST, throttles: MOST_THROTTLES }).outcome)).toBe('failed http_4xx');
});
