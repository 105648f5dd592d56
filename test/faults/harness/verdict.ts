import { join } from 'node:path';
import { expect } from 'vitest';
import { readDeadLetter } from '../../../shared/ports/dead-letter.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import type { DeadLetterMessage } from '../../../shared/ports/transport.ts';
import { JsonlSource } from '../../../shared/sinks/jsonl/source.ts';
import { testTransport } from '../../support/stores/rabbitmq.ts';
import { checkJoins } from '../joins/check.ts';
import { type Crawl, RUN, WORKERS } from './crawl.ts';
import { hostLimitsKept } from './host-limits.ts';
import { until } from './until.ts';

/** Deviations that a row allows. A loss is never allowed. */
export interface Allowances {
  /** Number of faults; default: 1. After each, all pages in hand of all workers may be fetched again. */
  readonly faults?: number;
  /**
   * Some tasks come back by a 60 s lease, which the short form makes lapse; default: no. `queued too`: queued tasks are
   * lost, and the short form makes their leases lapse as well, whenever nothing moves any more. Messages that were being published as their queue
   * was lost are confirmed although they are lost, on a slow disk a second later.
   */
  readonly lapses?: boolean | 'queued too';
  /** Most duplicate letters, from crashes between dead-lettering and settling; default: 10. */
  readonly extraLetters?: number;
  /** Number of dead letters that belong to no URL of the crawl; default: 0. */
  readonly otherLetters?: number;
  /** Longest time that the run may still take; default: 60 s. */
  readonly withinMs?: number;
  /** The producer's exit code; `undefined` if none waits for the end, or it was killed. Default: 0. */
  readonly producerCode?: number | undefined;
  /** Requests per second beyond the limit of the host; default: none beyond the measuring error. */
  readonly hostSlack?: number;
}

/**
 * The oracle of every row. Waits until the run has ended, then checks: every URL has its expected outcome, counted once; dead
 * letters are exactly those expected, with their reasons; the queues are empty; the counters add up; the host was asked
 * no faster than allowed; every process ended as it should; nothing is left in the ledger. In a crawl with joins, each was made as
 * often as expected, from all its inputs.
 */
export async function verdict(crawl: Crawl, allow: Allowances = {}): Promise<void> {
  const { workers = WORKERS, slots = 8 } = crawl.options;
  const { withinMs = 60_000, lapses = false, faults = 1, hostSlack = 0 } = allow;
  await crawl.ends(lapses !== false ? withinMs + 75_000 : withinMs, lapses);
  timeRecovery(crawl);
  await checkCounters(crawl);
  await checkRecords(crawl);
  if (crawl.joined !== undefined) await checkJoins(crawl, crawl.joined);
  checkRequests(crawl, faults * workers * Math.ceil(slots * 1.25));
  await checkLedger(crawl);
  const producer = 'producerCode' in allow ? allow.producerCode : 0;
  if (producer !== undefined) expect((await crawl.producer?.ended)?.code, 'exit code of the producer').toBe(producer);
  await checkQueues(crawl, allow);
  await checkProcesses(crawl);
  hostLimitsKept(crawl, hostSlack);
}

/** Times recovery from the end of the fault to the first request after it, or to the last repeated request, if that is later. */
export function timeRecovery({ round, site, expected }: Crawl): void {
  const { mendedAt } = round;
  const before = new Set(site.requests.filter(({ at }) => at <= mendedAt).map(({ path }) => path));
  const after = site.requests.filter(({ at }) => at > mendedAt);
  const again = after.filter(({ path }) => before.has(path) && expected.get(path) === 'done');
  round.recovered(Math.max(after[0]?.at ?? mendedAt, again.at(-1)?.at ?? mendedAt) - mendedAt);
}

async function checkCounters(crawl: Crawl): Promise<void> {
  const expected = { done: 0, failed: {} as Record<string, number>, skipped: {} as Record<string, number> };
  for (const ending of crawl.expected.values()) {
    const [kind, reason = ''] = ending.split(':') as ['done' | 'failed' | 'skipped', string?];
    if (kind === 'done') expected.done++;
    else expected[kind][reason] = (expected[kind][reason] ?? 0) + 1;
  }
  const joins = Object.values(crawl.joined?.made ?? {}).reduce((sum, made) => sum + made, 0);
  expected.done += joins;
  const progress = await crawl.progress();
  expect({ state: progress?.state, done: progress?.done, ...progress?.reasons }, 'counters').toEqual({
    state: 'finished',
    ...expected,
  });
  expect(progress?.discovered, 'discovered').toBe(crawl.expected.size + joins);
}

async function checkRecords(crawl: Crawl): Promise<void> {
  const { workplace, expected, joined } = crawl;
  const records: PageRecord[] = [];
  for await (const record of new JsonlSource(join(workplace.folder, 'output')).read(RUN))
    if (joined?.made[record.step] === undefined) records.push(record);
  const found = records.map(({ url, ...record }) => [
    crawl.pathOf(url),
    record.outcome === 'done' ? 'done' : `${record.outcome}:${record.reason}`,
  ]);
  expect(found.map(String).toSorted(), 'merged records').toEqual([...expected].map(String).toSorted());
}

/** Checks that each URL was requested, and that the repeated requests don't exceed the pages in hand at the faults. */
function checkRequests({ site, expected }: Crawl, allowed: number): void {
  const own = [...expected.keys()].filter((path) => path.startsWith('/'));
  const asked = own.map((path) => [path, site.count(path)] as const);
  expect(
    asked.filter(([, count]) => count === 0).map(([path]) => path),
    'never fetched',
  ).toEqual([]);
  const attempts = (path: string): number =>
    /^failed:(http_5xx|connection|timeout)$/.test(expected.get(path) ?? '') ? 2 : 1;
  const extra = asked.reduce((sum, [path, count]) => sum + count - attempts(path), 0);
  expect(extra, 'fetches beyond one per URL and attempt').toBeLessThanOrEqual(allowed);
}

async function checkLedger({ redis, prefix }: Crawl): Promise<void> {
  const run = `${prefix}run:${RUN}`;
  const [inFlight, leases, putBack, waiting] = await Promise.all([
    redis.hlen(`${run}:inflight`),
    redis.zcard(`${run}:leases`),
    redis.zcard(`${run}:putback`),
    redis.keys(`${run}:wait*`),
  ]);
  expect({ inFlight, leases, putBack, waiting }, 'what is left in Redis').toEqual({
    inFlight: 0,
    leases: 0,
    putBack: 0,
    waiting: [],
  });
}

/** Checks that the queues are empty while the workers run and after they are gone, so that nothing was unacked either. */
async function checkQueues(crawl: Crawl, { otherLetters = 0, extraLetters = 10 }: Allowances): Promise<void> {
  const transport = testTransport(crawl.rabbitmqUrl, crawl.prefix);
  await transport.start();
  try {
    const areEmpty = async (): Promise<boolean> => {
      const { priority, normal } = await transport.depths();
      return priority.ready + normal.ready + crawl.site.open === 0;
    };
    await until('the queues are empty', areEmpty, { withinMs: 20_000 });
    await crawl.endWorkers();
    await until('the queues stay empty when nobody holds anything', areEmpty, { withinMs: 5_000 });
    checkLetters(crawl, await transport.browse(10_000), otherLetters, extraLetters);
  } finally {
    await transport.stop();
  }
}

function checkLetters(crawl: Crawl, messages: readonly DeadLetterMessage[], others: number, extra: number): void {
  const letters = messages.map(({ body }) => readDeadLetter(body)).filter((letter) => letter?.run === RUN);
  const found = letters.map((letter) => `${crawl.pathOf(letter?.url ?? '')} failed:${letter?.reason}`);
  const expected = [...crawl.expected]
    .filter(([, ending]) => ending.startsWith('failed'))
    .map((each) => each.join(' '));
  expect([...new Set(found)].toSorted(), 'dead letters').toEqual(expected.toSorted());
  expect(found.length - expected.length, 'dead letters that are there twice').toBeLessThanOrEqual(extra);
  expect(messages.length - letters.length, 'dead letters of others').toBe(others);
}

async function checkProcesses({ workers, producer }: Crawl): Promise<void> {
  const codes = await Promise.all(workers.filter(({ isKilled }) => !isKilled).map(({ trawl }) => trawl.ended));
  expect(
    codes.map(({ code }) => code),
    'exit codes of the workers',
  ).toEqual(codes.map(() => 0));
  for (const said of [...workers.map(({ trawl }) => trawl.said), producer?.said ?? '']) {
    expect(said, 'what a process said').not.toMatch(/unhandled|uncaught|a bug in Trawl|guest:guest|\n {4}at /i);
  }
}
