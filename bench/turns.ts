import { join, resolve } from 'node:path';
import { AT_FULL_SPEED } from '../test/support/full-speed.ts';
import { byTurns, ratiosOf } from './by-turns.ts';
import { readCommandLine } from './command-line.ts';
import { Figures } from './figures.ts';
import { type Measured, runMeasured, TRAWL } from './measured-process.ts';
import { openBench } from './open-bench.ts';
import { writeSitemaps } from './origin.ts';
import { clear } from './rows.ts';

const {
  rounds,
  pages,
  only,
  with: setting,
  operands: [other = ''],
} = readCommandLine(
  `npm run bench:turns -- CHECKOUT [--rounds 5] [--pages 20000] [--only embedded|fleet] [--with FETCHER=undici]
Compares the CPU time per page of this checkout and another one, whose folder is CHECKOUT. They take turns, each first in every other round,
since a machine's speed changes within minutes; only the ratio counts. --with is a setting for this checkout alone:
bench:turns -- . --with FETCHER=undici compares the lanes of one checkout.`,
  { rounds: 5, pages: 20_000, only: '', with: '' },
  [1, 1],
);
const [name = '', value = ''] = setting.split('=');
const own: Readonly<Record<string, string>> = name === '' ? {} : { [name]: value };
const programs = { other: join(resolve(other), 'services/cli/trawl.ts'), this: TRAWL };
type Side = keyof typeof programs;

const bench = await openBench(rounds);
const { folder, rabbitmqUrl, redisUrl } = bench;

/** Crawls all pages once. Returns the CPU time in µs per page. */
type Way = (side: Side, round: number) => Promise<number>;

/** The ways to crawl. `fleet` measures its single worker, on an already full frontier. */
const WAYS: Readonly<Record<string, Way>> = {
  embedded: async (side) => {
    const ended = await run(side, ['crawl', bench.origin + sitemap, '--json', ...AT_FULL_SPEED]);
    const { done } = JSON.parse(ended.stdout);
    if (done !== pages) throw new Error(`expected ${pages} pages, got ${done}`);
    return perPage(ended);
  },
  fleet: async (side, round) => {
    await clear(bench);
    await run(side, ['produce', bench.origin + sitemap, '--run', `${side}-${round}`, '--json', ...AT_FULL_SPEED]);
    const ended = await run(side, ['work', '--exit-when-idle', '--log-format', 'json', ...AT_FULL_SPEED]);
    const { done } = JSON.parse((await run(side, ['status', `${side}-${round}`, '--json'])).stdout);
    if (done !== pages) throw new Error(`expected ${pages} pages, got ${done}`);
    return perPage(ended);
  },
};

const sitemap = await writeSitemaps(folder, bench.origin, 'turns', pages);
try {
  for (const [which, way] of Object.entries(WAYS)) {
    if (only !== '' && which !== only) continue;
    const usOf = await byTurns(['other', 'this'] as const, rounds, way);
    const [others, these] = [usOf('other'), usOf('this')];
    say(`${which}, CPU µs per page: other ${new Figures(others).text()}, this ${new Figures(these).text()}`);
    say(`  this / other, round by round: ${ratiosOf(these, others).text(3)}`);
  }
} finally {
  await bench.stop();
}

async function run(side: Side, line: readonly string[]): Promise<Measured> {
  // Each side has its own local store, since the checkouts can be of different versions.
  const env = {
    RABBITMQ_URL: rabbitmqUrl,
    REDIS_URL: redisUrl,
    OUTPUT_DIR: join(folder, side),
    ...(side === 'this' ? own : {}),
  };
  return await runMeasured(programs[side], line, { folder, env });
}

function perPage({ usage }: Measured): number {
  return (usage.cpuMs * 1_000) / pages;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
