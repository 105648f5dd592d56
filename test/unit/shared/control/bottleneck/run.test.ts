import { expect, test } from 'vitest';
import { bottleneckOf } from '../../../../../shared/control/bottleneck.ts';
import { progressOf } from '../../../../support/builders.ts';
import {
  AT_NOON,
  BUSY,
  FAST,
  GIVE_UP_AT,
  IDLE,
  LEFT,
  OFFERED_NOTHING,
  PURGED,
  QUIET,
  SLOW_HOST,
} from './circumstances.ts';

test.each([
  ['a run that has ended', { progress: progressOf({ state: 'finished', endedAt: 1 }) }, 'none', ''],
  [
    'a paused run',
    { progress: progressOf({ state: 'paused', waiting: 5, pauseReason: 'by hand' }) },
    'paused',
    'paused (by hand); trawl resume r',
  ],
  [
    'a cancelled run, the dropping of which was interrupted',
    {
      progress: { ...LEFT, state: 'cancelled' as const, stoppedAt: 1 },
      workers: [],
      resumeCommand: 'trawl crawl --resume r',
    },
    'none',
    'what still waits is yet to be dropped: trawl cancel r',
  ],
  ['nobody works', { progress: LEFT, workers: [] }, 'no workers', 'no worker is running: start one with trawl work'],
  [
    'a local crawl that was stopped, while another crawl is at work in its folder',
    {
      progress: { ...LEFT, stoppedAt: 1 },
      workers: [BUSY],
      hosts: [SLOW_HOST],
      resumeCommand: 'trawl crawl --resume r',
    },
    'no workers',
    'no process is crawling it: trawl crawl --resume r',
  ],
  [
    'a local crawl that was stopped before its seeds were read',
    { progress: progressOf({ stoppedAt: 1 }), workers: [], resumeCommand: 'trawl crawl --resume r' },
    'no workers',
    'no process is crawling it: trawl crawl --resume r',
  ],
  [
    'a local crawl that was stopped',
    { progress: LEFT, workers: [], resumeCommand: 'trawl crawl --resume r' },
    'no workers',
    'no process is crawling it: trawl crawl --resume r',
  ],
  [
    'workers wait',
    { progress: LEFT, workers: [{ ...BUSY, state: 'waiting: Redis' as const }] },
    'workers waiting',
    'workers are waiting: Redis',
  ],
  [
    'the broker takes no messages, and what is on its way to it looks lost',
    { progress: PURGED, workers: [{ ...IDLE, brokerTrouble: 'blocked: low on memory' as const }] },
    'broker',
    'RabbitMQ takes no messages: low on memory. Free memory or disk on its machine; rabbitmqctl status says what it has and needs',
  ],
  [
    'a queue refuses messages, and workers have room',
    { progress: LEFT, hosts: [SLOW_HOST], workers: [{ ...IDLE, brokerTrouble: 'full' as const }] },
    'broker',
    "RabbitMQ refuses messages, to be tried again: a policy bounds a queue (max-length, reject-publish). Take Trawl's queues out of it: rabbitmqctl list_policies",
  ],
  [
    'a queue refuses messages, and workers have all they can do',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, intervalMs: 0 }],
      workers: [{ ...BUSY, brokerTrouble: 'full' as const }],
      rate: 10,
    },
    'slots',
    'all 32 worker slots are busy: more workers help',
  ],
  [
    'a producer waits, since the store is full',
    { progress: OFFERED_NOTHING, memory: { usedBytes: 81, limitBytes: 100 } },
    'store full',
    'Redis uses 81 % of its maxmemory: producers wait. Let it drain, or give it more: redis-cli config set maxmemory SIZE',
  ],
  [
    'a store is fuller than that, and pages wait, too',
    { progress: OFFERED_NOTHING, memory: { usedBytes: 96, limitBytes: 100 } },
    'store full',
    'Redis uses 96 % of its maxmemory: producers wait, and so do pages that have links. Let it drain, or give it more: redis-cli config set maxmemory SIZE',
  ],
  [
    'a producer reads',
    { progress: OFFERED_NOTHING, memory: { usedBytes: 79, limitBytes: 100 } },
    'producers',
    'waits for URLs, and ends once its producers are done or it is sealed: trawl seal r',
  ],
  [
    'nothing bounds the store',
    { progress: OFFERED_NOTHING, memory: { usedBytes: 79, limitBytes: 0 } },
    'producers',
    'waits for URLs, and ends once its producers are done or it is sealed: trawl seal r',
  ],
  ['a producer reads in the same process', { progress: OFFERED_NOTHING, ownBound: 'politeness' as const }, 'none', ''],
  [
    'what was in a queue is gone',
    { progress: PURGED, workers: [IDLE] },
    'undelivered',
    'RabbitMQ was given 60, and no worker gets any of them: trawl doctor',
  ],
  [
    'what was in a queue is gone, and so much was in it that nothing else is released',
    { progress: { ...PURGED, waiting: 5_000 }, hosts: [SLOW_HOST], workers: [IDLE] },
    'undelivered',
    'RabbitMQ was given 60, and no worker gets any of them: trawl doctor',
  ],
  [
    'a delivery is on its way',
    { progress: { ...PURGED, inFlight: 2 }, hosts: [SLOW_HOST], workers: [IDLE] },
    'host',
    "waiting for example.com: 60/min; 4 812 left, about 1 h 20 min; more workers won't help (--rate)",
  ],
  [
    'a run has just begun, and no beat has named it yet',
    { progress: { ...PURGED, readAt: 14_000 }, workers: [IDLE] },
    'none',
    '',
  ],
  ['all that is left is worked on', { progress: PURGED, workers: [IDLE, { ...IDLE, inHand: 1 }] }, 'none', ''],
  [
    'a worker has just settled a page',
    { progress: PURGED, workers: [{ ...IDLE, progress: { ...QUIET, settledMsAgo: 3_000 } }] },
    'none',
    '',
  ],
  ['a worker of an earlier version', { progress: PURGED, workers: [{ ...BUSY, inHand: 0 }] }, 'none', ''],
])('%s', (_, about, name, sentence) => {
  expect(bottleneckOf({ hosts: [], rate: 0, ...about })).toMatchObject({ name, sentence });
});

test('what is left takes as long as the slowest host, or as the pace of all', () => {
  const etaOf = (waiting: number, rate: number): number | undefined =>
    bottleneckOf({ progress: LEFT, hosts: [{ ...SLOW_HOST, waiting }], rate }).etaMs;
  expect(etaOf(4_812, 1)).toBe(4_812_000);
  expect(etaOf(29, 10)).toBe(481_500);
});

test.each([
  ['a paused run', { progress: progressOf({ state: 'paused', waiting: 5 }) }],
  ['nobody works', { progress: LEFT, workers: [] }],
  ['workers wait', { progress: LEFT, workers: [{ ...BUSY, state: 'waiting: Redis' as const }] }],
  ['no host answers', { progress: LEFT, ownBound: 'network' as const }],
  [
    'a slow run that is left with a host which never answered',
    {
      progress: AT_NOON,
      hosts: [{ ...SLOW_HOST, trouble: { kind: 'silent' as const, reason: 'no answer', giveUpAt: GIVE_UP_AT } }],
      rate: 0.01,
    },
  ],
  ['a run all of whose pages wait for their next attempt', { progress: progressOf({ waiting: 12 }) }],
  ['a run of many hosts that only begins', { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 1 }], rate: 0 }],
  [
    'a run of many hosts that only begins, one of which asked for peace',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 1, pausedMs: 52_000 }], rate: 0 },
  ],
  [
    'a run that only begins, of more hosts than were looked at',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, waiting: 900 }], hasMoreHosts: true, rate: 0 },
  ],
  ['a host paused by hand', { progress: LEFT, hosts: [{ ...SLOW_HOST, pausedMs: 31_536_000_000, byHand: true }] }],
])('of %s, nobody can say how long it will take', (_, about) => {
  expect(bottleneckOf({ hosts: [], rate: 1, ...about }).etaMs).toBeUndefined();
});

test.each([
  ['one host has most of the pages', { hosts: [SLOW_HOST] }, 4_812_000],
  ['workers can do all the others meanwhile', { hosts: [{ ...SLOW_HOST, waiting: 29 }], workers: FAST }, 29_000],
  [
    'workers can hardly do all the others meanwhile',
    { hosts: [{ ...SLOW_HOST, waiting: 23 }], workers: FAST },
    undefined,
  ],
])('before any page is done, the time left is known if %s', (_, about, etaMs) => {
  expect(bottleneckOf({ progress: LEFT, rate: 0, ...about }).etaMs).toBe(etaMs);
});
