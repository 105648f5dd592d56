import { join } from 'node:path';
import { Redis } from 'ioredis';
import { AT_FULL_SPEED } from '../../test/support/full-speed.ts';
import { byTurns, ratiosOf } from '../by-turns.ts';
import { readCommandLine } from '../command-line.ts';
import { Figures } from '../figures.ts';
import { openBench } from '../open-bench.ts';
import { writeSitemaps } from '../origin.ts';
import { clear, trawl } from '../rows.ts';

const { rounds, owners } = readCommandLine(
  `npm run bench:joins -- [--rounds 5] [--owners 5000]
Measures what joins cost: owners with three pages below each and a join of all four, against the same pages without it. One worker crawls both by turns,
each first in every other round; CPU time is of worker and Redis.`,
  { rounds: 5, owners: 5_000 },
);
const PAGES_OF_OWNER = 4;
const MUST = 1.3;
type Side = 'unjoined' | 'joined';

/** CPU time of one crawl, in µs per owner. */
interface Cost {
  readonly worker: number;
  readonly redis: number;
}

const bench = await openBench(rounds);
const redis = new Redis(bench.redisUrl);
const sitemap = await writeSitemaps(bench.folder, bench.origin, 'joins', owners);
try {
  const costOf = await byTurns(['unjoined', 'joined'] as const, rounds, (side, round) =>
    crawl(side, `${side}-${round}`),
  );
  const wholeOf = (side: Side): number[] => costOf(side).map((cost) => cost.worker + cost.redis);
  for (const side of ['unjoined', 'joined'] as const) {
    const [worker, store] = [costOf(side).map((cost) => cost.worker), costOf(side).map((cost) => cost.redis)];
    say(`${side}, CPU µs per owner: worker ${new Figures(worker).text()}, Redis ${new Figures(store).text()}`);
  }
  say(
    `joined / unjoined, round by round: ${ratiosOf(wholeOf('joined'), wholeOf('unjoined')).text(3)}, at most ${MUST}`,
  );
} finally {
  redis.disconnect();
  await bench.stop();
}

async function crawl(side: Side, run: string): Promise<Cost> {
  await clear(bench);
  const crawler = ['--crawler', join(import.meta.dirname, 'crawlers', `${side}.ts`)];
  await trawl(bench, ['produce', bench.origin + sitemap, '--run', run, '--json', ...crawler, ...AT_FULL_SPEED]);
  const before = await cpuOfRedis();
  const work = ['work', '--exit-when-idle', '--log-format', 'json', ...crawler, ...AT_FULL_SPEED];
  const { usage } = await trawl(bench, work);
  const after = await cpuOfRedis();
  const { done } = JSON.parse((await trawl(bench, ['status', run, '--json'])).stdout);
  const expected = owners * (PAGES_OF_OWNER + (side === 'joined' ? 1 : 0));
  if (done !== expected) throw new Error(`expected ${expected} tasks done, got ${done}`);
  return { worker: (usage.cpuMs * 1_000) / owners, redis: ((after - before) * 1_000) / owners };
}

/** Reads the CPU time that Redis has used, in ms, without the child processes that rewrite its file. */
async function cpuOfRedis(): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1_000;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
