import { expect, test } from 'vitest';
import {
  DEFAULT_ROUTING,
  type RoutingRule,
  routeOf,
  routingFileSchema,
} from '../../../../../shared/task/task/routing.ts';

const MINUTE = 60_000;

test.each([
  // whole labels and whole segments: the prototype's substrings would have taken half of these by mistake
  ['https://httpbin.org/get', 'priority', 5 * MINUTE],
  ['https://eu.httpbin.org/get', 'priority', 5 * MINUTE],
  ['https://myhttpbin.org/get', 'normal', undefined],
  ['https://example.com/?u=httpbin.org', 'normal', undefined],
  ['https://example.com/news', 'priority', 30 * MINUTE],
  ['https://example.com/news/today', 'priority', 30 * MINUTE],
  ['https://example.com/world/live?x=1', 'priority', 30 * MINUTE],
  ['https://news.example.com/', 'priority', 30 * MINUTE],
  ['https://live.example.com:8080/a', 'priority', 30 * MINUTE],
  ['https://example.com/newsletter', 'normal', undefined],
  ['https://example.com/delivery', 'normal', undefined],
  ['https://example.com/a?q=/news/', 'normal', undefined],
  ['https://newsroom.example.com/', 'normal', undefined],
  ['https://example.com/badnews', 'normal', undefined],
  ['https://badnews.example.com/', 'normal', undefined],
  ['https://news.example.com/a//b', 'priority', 30 * MINUTE],
  ['https://user:news@example.com/', 'normal', undefined],
  ['https://example.com/', 'normal', undefined],
])('%s goes to %s, worth doing for %s ms', (url, queue, deadlineMs) => {
  expect(routeOf(url, DEFAULT_ROUTING)).toEqual(deadlineMs === undefined ? { queue } : { queue, deadlineMs });
});

test('the first rule that matches wins, and a rule matches only if all of its conditions do', () => {
  const rules: RoutingRule[] = [
    { host: 'example.com', path: '/shop', queue: 'normal' },
    { host: 'example.com', queue: 'priority' },
  ];
  expect(routeOf('https://example.com/shop/1', rules).queue).toBe('normal');
  expect(routeOf('https://example.com/shopping', rules).queue).toBe('priority');
  expect(routeOf('https://example.org/shop', rules).queue).toBe('normal');
  expect(routeOf('https://example.org/shop', [])).toEqual({ queue: 'normal' });
});

test('a file of rules is read, and its mistakes are named', () => {
  const file = [{ word: 'press', queue: 'priority', deadlineSeconds: 60 }];
  expect(routingFileSchema.parse(file)).toEqual([{ word: ['press'], queue: 'priority', deadlineMs: 60_000 }]);
  const read = routingFileSchema.safeParse([{ hosts: 'a.com', queue: 'fast' }]);
  expect(read.success).toBe(false);
  expect(read.error?.issues.map(({ path, code }) => [path.join('.'), code])).toEqual([
    ['0.queue', 'invalid_value'],
    ['0', 'unrecognized_keys'],
  ]);
});
