import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { AT_FULL_SPEED } from '../../test/support/full-speed.ts';
import { startServers } from '../../test/support/servers/ladder.ts';
import { Figures } from '../figures.ts';
import { numberOf } from '../flags.ts';
import { runMeasured, TRAWL } from '../measured-process.ts';
import { startOrigin, writeSitemaps } from '../origin.ts';
import { type Bench, clear } from '../rows.ts';

// npm run bench:joins [-- --rounds 5] [-- --owners 5000]
// What joins cost: owners with three pages below each and a join of all four, and the same pages without it. One worker, by turns, each
// first in every other round; CPU time is of worker and Redis.
const [rounds, owners] = [numberOf('--rounds', 5), numberOf('--owners', 5_000)];
const PAGES_OF_OWNER = 4;
const MUST = 1.3;
type Side = 'unjoined' | 'joined';

/** CPU time of one crawl, in µs per owner. */
interface Cost {
  readonly worker: number;
  readonly redis: number;
}

const folder = await mkdtemp(join(tmpdir(), 'trawl-joins-'));
const servers = await startServers();
const origin = await startOrigin(folder);
const { rabbitmqUrl, redisUrl } = servers;
const bench: Bench = { folder, origin: origin.url, rabbitmqUrl, redisUrl, rounds };
const env = { RABBITMQ_URL: rabbitmqUrl, REDIS_URL: redisUrl, OUTPUT_DIR: join(folder, 'output') };
const redis = new Redis(redisUrl);
const sitemap = await writeSitemaps(folder, origin.url, 'joins', owners);
try {
  const found: Record<Side, Cost[]> = { unjoined: [], joined: [] };
  const ratios: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const order: readonly Side[] = round % 2 === 0 ? ['joined', 'unjoined'] : ['unjoined', 'joined'];
    for (const side of order) found[side].push(await crawl(side, `${side}-${round}`));
    ratios.push(whole(found.joined.at(-1)) / whole(found.unjoined.at(-1)));
  }
  for (const side of ['unjoined', 'joined'] as const) {
    const [worker, store] = [found[side].map((cost) => cost.worker), found[side].map((cost) => cost.redis)];
    say(`${side}, CPU µs per owner: worker ${new Figures(worker).text()}, Redis ${new Figures(store).text()}`);
  }
  say(`joined / unjoined, round by round: ${new Figures(ratios).text(3)}, at most ${MUST}`);
} finally {
  redis.disconnect();
  await origin.stop();
  await servers.stop();
  await rm(folder, { recursive: true, force: true });
}

async function crawl(side: Side, run: string): Promise<Cost> {
  await clear(bench);
  const crawler = ['--crawler', join(import.meta.dirname, 'crawlers', `${side}.ts`)];
  const produce = ['produce', origin.url + sitemap, '--run', run, '--json', ...crawler, ...AT_FULL_SPEED];
  await runMeasured(TRAWL, produce, { folder, env });
  const before = await cpuOfRedis();
  const work = ['work', '--exit-when-idle', '--log-format', 'json', ...crawler, ...AT_FULL_SPEED];
  const { usage } = await runMeasured(TRAWL, work, { folder, env });
  const after = await cpuOfRedis();
  const { done } = JSON.parse((await runMeasured(TRAWL, ['status', run, '--json'], { folder, env })).stdout);
  const expected = owners * (PAGES_OF_OWNER + (side === 'joined' ? 1 : 0));
  if (done !== expected) throw new Error(`expected ${expected} tasks done, got ${done}`);
  return { worker: (usage.cpuMs * 1_000) / owners, redis: ((after - before) * 1_000) / owners };
}

/** CPU time that Redis has taken, in ms; without the processes that write its file anew. */
async function cpuOfRedis(): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1_000;
}

function whole(cost: Cost | undefined): number {
  return cost === undefined ? 0 : cost.worker + cost.redis;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
