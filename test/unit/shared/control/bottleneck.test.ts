import { expect, test } from 'vitest';
import { bottleneckOf } from '../../../../shared/control/bottleneck.ts';
import type { LiveWorker } from '../../../../shared/ports/roster.ts';
import type { HostLine } from '../../../../shared/ports/run-overview.ts';
import { progressOf } from '../../../support/builders.ts';

const BUSY: LiveWorker = {
  id: 'w-1',
  host: 'h',
  version: '1',
  slots: 32,
  inHand: 32,
  bound: 'slots',
  state: 'consuming',
  silentMs: 100,
};
const QUIET = { settledMsAgo: 20_000, unsettledMs: 0, stuckAfterMs: 60_000 };
const IDLE: LiveWorker = { ...BUSY, inHand: 0, bound: 'politeness', progress: QUIET };
const SLOW_HOST: HostLine = {
  host: 'example.com',
  waiting: 4_812,
  intervalMs: 1_000,
  because: 'rate',
  pausedMs: 0,
  reason: '',
  byHand: false,
  isUnreachable: false,
};
/** The run was read at ten past twelve, local time. */
const NOON = new Date(2026, 10, 24, 12, 10).getTime();
const AT_NOON = progressOf({ discovered: 5_000, waiting: 4_812, inFlight: 3, done: 185, readAt: NOON });
const PURGED = progressOf({ discovered: 60, inFlight: 60, readAt: 60_000 });
const GIVE_UP_AT = NOON + 238_000;
const LEFT = progressOf({ discovered: 5_000, waiting: 4_812, inFlight: 3, done: 185 });
const OFFERED_NOTHING = progressOf({ producers: { open: 1, lost: 0, silent: [] } });

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
    'Redis is full to 81 % of maxmemory: producers wait. Let it drain, or give it more: redis-cli config set maxmemory SIZE',
  ],
  [
    'a store is fuller than that, and pages wait, too',
    { progress: OFFERED_NOTHING, memory: { usedBytes: 96, limitBytes: 100 } },
    'store full',
    'Redis is full to 96 % of maxmemory: producers wait, and so do pages that have links. Let it drain, or give it more: redis-cli config set maxmemory SIZE',
  ],
  ['a producer reads', { progress: OFFERED_NOTHING, memory: { usedBytes: 79, limitBytes: 100 } }, 'none', ''],
  ['nothing bounds the store', { progress: OFFERED_NOTHING, memory: { usedBytes: 79, limitBytes: 0 } }, 'none', ''],
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
  [
    'a polite pace',
    { progress: LEFT, hosts: [SLOW_HOST], workers: [BUSY], rate: 1 },
    'host',
    "waiting for example.com: 60/min; 4 812 left, about 1 h 20 min; more workers won't help (--rate)",
  ],
  [
    'a host that asked for peace',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, pausedMs: 52_000, reason: 'HTTP 429, Retry-After' }] },
    'host paused',
    'waiting for example.com: paused for 52 s (HTTP 429, Retry-After)',
  ],
  [
    'a host whose robots.txt can not be had',
    {
      progress: AT_NOON,
      hosts: [
        {
          ...SLOW_HOST,
          intervalMs: 0,
          pausedMs: 9_000,
          reason: 'robots.txt: HTTP 503',
          trouble: { kind: 'answered' as const, reason: 'robots.txt 503', giveUpAt: GIVE_UP_AT + 16 * 3_600_000 },
        },
      ],
    },
    'host unreachable',
    'waiting for example.com: robots.txt 503; giving up at Wed 25 Nov, 04:13 (--host-give-up)',
  ],
  [
    'a host that never answered, between two tries',
    {
      progress: AT_NOON,
      hosts: [
        {
          ...SLOW_HOST,
          intervalMs: 0,
          trouble: { kind: 'silent' as const, reason: 'connection refused', giveUpAt: GIVE_UP_AT },
        },
      ],
    },
    'host unreachable',
    'waiting for example.com: it never answered (connection refused); giving up at 12:13',
  ],
  [
    'a host that gave an error, and is waited for because of its pace',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, trouble: { kind: 'answered' as const, reason: 'HTTP 500', giveUpAt: 20_000 } }],
      rate: 1,
    },
    'host',
    "waiting for example.com: 60/min; 4 812 left, about 1 h 20 min; more workers won't help (--rate)",
  ],
  [
    'an outage of the network of this process',
    {
      progress: AT_NOON,
      hosts: [{ ...SLOW_HOST, trouble: { kind: 'outage' as const, reason: 'no answer', giveUpAt: GIVE_UP_AT } }],
      ownBound: 'network' as const,
    },
    'network',
    'no host answers, so the network may be down; giving up at 12:13 (--host-give-up)',
  ],
  [
    'a proxy that nobody can use',
    { progress: LEFT, ownBound: 'proxies' as const },
    'proxies',
    'no proxy of PROXY_URL can be used: the log says why; each is tried again by itself',
  ],
  [
    'a proxy that nobody can use, which a seed waits for',
    { progress: OFFERED_NOTHING, ownBound: 'proxies' as const },
    'proxies',
    'no proxy of PROXY_URL can be used: the log says why; each is tried again by itself',
  ],
  [
    'an outage of the network of all workers',
    { progress: LEFT, workers: [{ ...BUSY, bound: 'network' as const }] },
    'network',
    'no host answers, so the network may be down',
  ],
  [
    'an outage of the network of one worker of two',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, intervalMs: 0 }],
      workers: [{ ...BUSY, bound: 'network' as const }, BUSY],
    },
    'network',
    'w-1 gets no answer from any host: its network may be down',
  ],
  [
    'a host that answers slowly',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 10, intervalMs: 2_000, because: 'answers' as const, responseMs: 4_000 }],
    },
    'host',
    "waiting for example.com: its answers take 4.0 s; 10 left, about 20 s; more workers won't help",
  ],
  [
    'a host that was slowed',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, waiting: 10, intervalMs: 8_000, because: 'slowed' as const, slowReason: 'HTTP 429' }],
    },
    'host',
    "waiting for example.com: slowed to 1 per 8.0 s: HTTP 429; 10 left, about 80 s; more workers won't help",
  ],
  [
    'a host that is out of order',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, pausedMs: 42_000, reason: '5 connection errors in a row', isUnreachable: true }],
    },
    'host unreachable',
    'waiting for example.com: host unreachable: next try in 42 s (5 connection errors in a row)',
  ],
  [
    'a host that is tried just now',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, intervalMs: 0, reason: '5 time-outs in a row', isUnreachable: true }],
    },
    'host unreachable',
    'waiting for example.com: host unreachable: being tried (5 time-outs in a row)',
  ],
  [
    'a host paused by hand',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, pausedMs: 31_536_000_000, reason: 'they called', byHand: true }] },
    'host paused',
    'waiting for example.com: paused by hand (they called); trawl resume --host example.com',
  ],
  [
    'a host paused by hand, of a local crawl',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, pausedMs: 31_536_000_000, reason: 'they called', byHand: true }],
      ownBound: 'politeness' as const,
    },
    'host paused',
    'waiting for example.com: paused by hand (they called); trawl resume --host example.com --local',
  ],
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
  ['nothing in the way', { progress: LEFT, hosts: [{ ...SLOW_HOST, intervalMs: 0 }], rate: 900 }, 'none', ''],
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
  ['a host paused by hand', { progress: LEFT, hosts: [{ ...SLOW_HOST, pausedMs: 31_536_000_000, byHand: true }] }],
])('of %s, nobody can say how long it will take', (_, about) => {
  expect(bottleneckOf({ hosts: [], rate: 1, ...about }).etaMs).toBeUndefined();
});
