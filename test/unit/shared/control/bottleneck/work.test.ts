import { expect, test } from 'vitest';
import { bottleneckOf } from '../../../../../shared/control/bottleneck.ts';
import { progressOf } from '../../../../support/builders.ts';
import { BUSY, LEFT, SLOW_HOST } from './circumstances.ts';

const TEN = "waiting for example.com: 60/min; 10 left, about 10 s; more workers won't help (--rate)";

test.each([
  ['only retries', { progress: progressOf({ waiting: 12 }), rate: 5 }, 'retries', '12 wait for their next attempt'],
  [
    'a fast site and few workers',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, intervalMs: 0 }], workers: [BUSY], rate: 900 },
    'slots',
    'all 32 worker slots are busy: more workers help',
  ],
  [
    'a fast site whose pages wait for each other in all slots',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, intervalMs: 0 }],
      workers: [{ ...BUSY, bound: 'politeness' as const }],
      rate: 900,
    },
    'host',
    'waiting for example.com: no rate limit, only --host-concurrency; 4 812 left',
  ],
  [
    'a fast site that workers may not ask more at once',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, intervalMs: 0 }],
      workers: [{ ...BUSY, inHand: 9, bound: 'politeness' as const }],
      rate: 900,
    },
    'host',
    'waiting for example.com: no rate limit, only --host-concurrency; 4 812 left',
  ],
  [
    'many fast sites',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 12, intervalMs: 0 }],
      workers: [{ ...BUSY, inHand: 9, bound: 'politeness' as const }],
      rate: 900,
    },
    'none',
    '',
  ],
  [
    'a lost producer',
    {
      progress: progressOf({
        sealed: false,
        done: 5,
        discovered: 5,
        producers: { open: 0, lost: 1, silent: [{ id: 'host-3fa1', silentMs: 90_000 }] },
      }),
    },
    'producer lost',
    'producer lost: host-3fa1, silent for 1 min 30 s; run it again with trawl produce --run r …, or trawl seal r',
  ],
  [
    'many hosts, each of which could be done long before the worker is',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 29 }],
      workers: [{ ...BUSY, bound: 'cpu' as const }],
      rate: 10,
    },
    'cpu',
    'w-1 has no CPU time left: more workers help, on other cores',
  ],
  [
    'the same in one process',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 29 }], ownBound: 'cpu' as const, rate: 10 },
    'cpu',
    'its process has no CPU time left: a fleet uses more cores',
  ],
  [
    'the same in one process, looked at from another one',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 29 }],
      workers: [{ ...BUSY, bound: 'cpu' as const }],
      resumeCommand: 'trawl crawl --resume r',
      rate: 10,
    },
    'cpu',
    'its process has no CPU time left: a fleet uses more cores',
  ],
  [
    'many hosts in one process with few slots',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 29 }], ownBound: 'slots' as const, rate: 10 },
    'slots',
    'all slots of its process are busy (--worker-concurrency)',
  ],
  [
    'workers that have just begun on many polite hosts',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 29 }],
      workers: [{ ...BUSY, bound: 'politeness' as const }],
      rate: 10,
    },
    'host',
    "waiting for example.com: 60/min; 29 left, about 29 s; more workers won't help (--rate)",
  ],
  [
    'workers with room that get too few pages',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 29 }],
      workers: [{ ...BUSY, inHand: 9, bound: 'politeness' as const }],
      rate: 10,
      oldestDueMs: 42_000,
    },
    'services',
    'hosts that may be asked wait for 42 s, and workers have room: Redis, RabbitMQ or their machine is too busy',
  ],
  ['a run of many hosts that only begins', { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 10 }] }, 'host', TEN],
  [
    'a run of many hosts that only begins, on workers with all they can do',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 10 }], workers: [BUSY] },
    'slots',
    'all 32 worker slots are busy: more workers help',
  ],
  [
    'a run of very many hosts with a page each that only begins',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 1 }], hasMoreHosts: true },
    'none',
    '',
  ],
  ['nothing in the way', { progress: LEFT, hosts: [{ ...SLOW_HOST, intervalMs: 0 }], rate: 900 }, 'none', ''],
])('%s', (_, about, name, sentence) => {
  expect(bottleneckOf({ hosts: [], rate: 0, ...about })).toMatchObject({ name, sentence });
});
