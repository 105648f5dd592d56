import { expect, test } from 'vitest';
import type { FailedReason, Outcome } from '../../../../../shared/task/task/outcome.ts';
import { policyProblems, type RetryPolicy, underPolicy } from '../../../../../shared/task/task/retry-policy.ts';
import { type RetrySchedule, retryDelayMs } from '../../../../../shared/task/task/retry-schedule.ts';

// biome-ignore format: a table
test.each<[RetrySchedule, readonly number[]]>([
  // after one, two, three and nine attempts, at a random number of one half
  [{},                                                          [1_000, 2_000, 4_000, 256_000]],
  [{ firstDelayMs: 100 },                                       [50, 100, 200, 12_800]],
  [{ firstDelayMs: 100, maxDelayMs: 300 },                      [50, 100, 150, 150]],
  [{ backoff: 'linear' },                                       [2_000, 4_000, 6_000, 18_000]],
  [{ backoff: 'linear', firstDelayMs: 100, maxDelayMs: 250 },   [100, 200, 250, 250]],
  [{ backoff: 'fixed', firstDelayMs: 700 },                     [700, 700, 700, 700]],
  [{ backoff: 'fixed', firstDelayMs: 700, maxDelayMs: 600 },    [600, 600, 600, 600]],
])('with the schedule %o, retries wait %o ms', (schedule, waits) => {
  expect([1, 2, 3, 9].map((attempts) => retryDelayMs(attempts, 0.5, schedule))).toEqual(waits);
});

const FIRST = { attempts: 0, maxAttempts: 3, random: 0.5, status: 500 };
const failed = (reason: FailedReason): Outcome => ({ kind: 'failed', reason, detail: 'why' });
const retry = (reason: FailedReason): Outcome => ({ kind: 'retry', reason, inMs: 9, detail: 'why' });

// biome-ignore format: a table
test.each<[RetryPolicy['when'] | undefined, Outcome, string, string]>([
  // when                          judged                   first attempt        last attempt
  [undefined,                      retry('http_5xx'),       'retry http_5xx',    'failed http_5xx'],
  [undefined,                      failed('http_4xx'),      'failed http_4xx',   'failed http_4xx'],
  [undefined,                      failed('step'),          'failed step',       'failed step'],
  ['transient',                    failed('schema'),        'failed schema',     'failed schema'],
  ['all',                          failed('http_4xx'),      'retry http_4xx',    'failed http_4xx'],
  ['all',                          failed('step'),          'retry step',        'failed step'],
  ['all',                          failed('schema'),        'retry schema',      'failed schema'],
  ['all',                          failed('deadline'),      'failed deadline',   'failed deadline'],
  ['all',                          failed('crash_loop'),    'failed crash_loop', 'failed crash_loop'],
  [['http_4xx'],                   failed('http_4xx'),      'retry http_4xx',    'failed http_4xx'],
  [['http_4xx'],                   retry('http_5xx'),       'failed http_5xx',   'failed http_5xx'],
  [[],                             retry('timeout'),        'failed timeout',    'failed timeout'],
  [({ status }) => status === 500, failed('step'),          'retry step',        'failed step'],
  [({ error }) => error === 'no',  retry('timeout'),        'failed timeout',    'failed timeout'],
  [({ attempt }) => attempt === 1, failed('tls'),           'retry tls',         'failed tls'],
  ['all',                          { kind: 'done' },        'done',              'done'],
  ['all',                          { kind: 'defer' },       'defer',             'defer'],
  ['all',                          { kind: 'skipped', reason: 'size' }, 'skipped size', 'skipped size'],
])('with when: %o, %o becomes %s, at the last attempt %s', (when, judged, first, last) => {
  const policy = when === undefined ? {} : { when };
  const outcomes = [0, 2].map((attempts) => underPolicy(judged, policy, { ...FIRST, attempts }));
  expect(outcomes.map((each) => ('reason' in each ? `${each.kind} ${each.reason}` : each.kind))).toEqual([first, last]);
});

test('a retry waits by the schedule of the policy, and without a policy nothing changes', () => {
  expect(underPolicy(retry('timeout'), { backoff: 'fixed', firstDelayMs: 700 }, FIRST)).toEqual({
    ...retry('timeout'),
    inMs: 700,
  });
  expect(underPolicy(retry('timeout'), undefined, FIRST)).toEqual(retry('timeout'));
});

test('a retry.when that throws fails the task, and the detail says so', () => {
  const when = () => {
    throw new Error('oops');
  };
  expect(underPolicy(retry('timeout'), { when }, FIRST)).toEqual({
    kind: 'failed',
    reason: 'timeout',
    detail: 'why; and retry.when of its step threw: Error: oops',
  });
});

// biome-ignore format: a table
test.each<[string, unknown, string]>([
  ['a value without a text', Object.create(null),               'why; and retry.when of its step threw: no error'],
  ['a long error',          new Error('x'.repeat(5_000_000)),  `why; and retry.when of its step threw: Error: ${'x'.repeat(493)}`],
])('a retry.when that throws %s is reported in short', (_, thrown, detail) => {
  const when = () => {
    throw thrown;
  };
  expect(underPolicy(retry('timeout'), { when }, FIRST)).toEqual({ kind: 'failed', reason: 'timeout', detail });
});

test('an async retry.when fails the task, and the detail says so', () => {
  const when = (async () => true) as never;
  expect(underPolicy(retry('timeout'), { when }, FIRST)).toMatchObject({
    kind: 'failed',
    detail: expect.stringContaining("expected retry.when to say yes or no, got a promise: it can't be async"),
  });
});

// biome-ignore format: a table
test.each<[unknown, readonly (string | RegExp)[]]>([
  [{ attempts: 5, backoff: 'fixed', firstDelayMs: 0, maxDelayMs: 5, when: ['tls'] }, []],
  [{ when: () => true },              []],
  [5,                                 ['expected an object such as { attempts: 5 }']],
  [{ attempts: 0 },                   ['expected attempts to be a whole number from 1 to 100']],
  [{ attempts: 1.5, backoff: 'none' }, ['expected attempts to be a whole number from 1 to 100', 'expected backoff to be fixed, linear, exponential']],
  [{ firstDelayMs: '1s' },            ['expected firstDelayMs to be milliseconds, at most 86400000']],
  [{ when: 'never' },                 ['expected when to be transient, all, a list of reasons or a function']],
  [{ when: ['deadline'] },            [/^tasks are not retried for deadline; the reasons are timeout, dns/]],
  [{ delay: 5 },                      ['there is no delay; there are attempts, backoff, firstDelayMs, maxDelayMs, when']],
])('the policy %o has the problems %o', (policy, problems) => {
  expect(policyProblems(policy)).toEqual(problems.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each)));
});
