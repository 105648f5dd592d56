import { expect, test } from 'vitest';
import {
  meaningOfFailure,
  meaningOfStatus,
  robotsPauseMs,
  robotsWaitMs,
} from '../../../../../shared/task/robots/robots-answer.ts';
import type { FetchFailure } from '../../../../../shared/task/task/fetch-failure.ts';

// biome-ignore format: a table
test.each([
  [200, 'parse'], [204, 'parse'], [299, 'parse'],
  [300, 'allow'], [304, 'allow'], [399, 'allow'],
  [400, 'allow'], [401, 'allow'], [403, 'allow'], [404, 'allow'], [410, 'allow'], [451, 'allow'], [499, 'allow'],
  [429, 'wait'],
  [500, 'wait'], [502, 'wait'], [503, 'wait'], [504, 'wait'], [599, 'wait'],
  [777, 'allow'],
])('a robots.txt answered with %i means: %s', (status, meaning) => {
  expect(meaningOfStatus(status)).toBe(meaning);
});

// biome-ignore format: a table
test.each([
  // reason, meaning at its own address, meaning after a redirect
  ['timeout',         'wait',    'wait'],
  ['connection',      'wait',    'wait'],
  ['dns',             'wait',    'wait'],
  ['nxdomain',        'as_page', 'wait'],
  ['tls',             'as_page', 'wait'],
  ['redirects',       'allow',   'allow'],
  ['bad_url',         'allow',   'allow'],
  ['encoding',        'wait',    'wait'],
  ['size',            'wait',    'wait'],
  ['content_type',    'wait',    'wait'],
  ['private_address', 'allow',   'wait'],
  ['network',         'as_page', 'as_page'],
  ['exhausted',       'again',   'again'],
  ['proxy',           'again',   'again'],
  ['aborted',         'again',   'again'],
] satisfies [FetchFailure, string, string][])('a robots.txt that fails with %s means: %s, after a redirect: %s', (reason, own, elsewhere) => {
  expect([meaningOfFailure(reason, false), meaningOfFailure(reason, true)]).toEqual([own, elsewhere]);
});

// biome-ignore format: a table
test.each<[number, number | undefined, number]>([
  // failures, Retry-After in ms, pause
  [1,     undefined, 15_000],
  [2,     undefined, 30_000],
  [4,     undefined, 120_000],
  [7,     undefined, 900_000],
  [1_000, undefined, 900_000],
  [5,     7_000,     7_000],
  [1,     0,         1_000],
  [1,     86_400_000, 3_600_000],
])('after %i failures and a Retry-After of %j ms, the host is left alone for %i ms', (failures, askedMs, ms) => {
  expect(robotsPauseMs(failures, askedMs)).toBe(ms);
});

// biome-ignore format: a table
test.each([
  // waits in a row, time until the hub's next turn, random number, resulting wait
  [1,   0,              0.5, 2_000],
  [1,   0,              0,   1_500],
  [3,   5_000,          0.5, 8_000],
  [3,   50_000,         0.5, 50_000],
  [9,   0,              0.5, 512_000],
  [10,  0,              0.5, 900_000],
  [500, 31_536_000_000, 0.5, 900_000],
])('at wait number %i for a hub that is busy for %i ms (random %d), a host waits %i ms', (waits, inMs, random, ms) => {
  expect(robotsWaitMs(waits, inMs, random)).toBe(ms);
});
