import { expect, test } from 'vitest';
import { bottleneckOf } from '../../../../../shared/control/bottleneck.ts';
import { AT_NOON, BUSY, GIVE_UP_AT, LEFT, OFFERED_NOTHING, SLOW_HOST } from './circumstances.ts';

test.each([
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
    'a sink that all workers wait for, though hosts are slow, too',
    {
      progress: LEFT,
      hosts: [SLOW_HOST],
      workers: [
        { ...BUSY, bound: 'sink' as const },
        { ...BUSY, bound: 'sink' as const },
      ],
    },
    'sink',
    'records take seconds to be stored: the sink is slow, or hangs (SINK)',
  ],
  [
    'a sink that one worker of two waits for',
    { progress: LEFT, hosts: [{ ...SLOW_HOST, intervalMs: 0 }], workers: [{ ...BUSY, bound: 'sink' as const }, BUSY] },
    'sink',
    'w-1 waits for its records to be stored: its sink is slow, or hangs (SINK)',
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
  [
    'a host whose name a shell would run',
    {
      progress: LEFT,
      hosts: [{ ...SLOW_HOST, host: '$(id).a.test', pausedMs: 31_536_000_000, reason: 'by hand', byHand: true }],
    },
    'host paused',
    "waiting for $(id).a.test: paused by hand; trawl resume --host '$(id).a.test'",
  ],
])('%s', (_, about, name, sentence) => {
  expect(bottleneckOf({ hosts: [], rate: 0, ...about })).toMatchObject({ name, sentence });
});
