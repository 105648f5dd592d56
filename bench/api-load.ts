import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { AT_FULL_SPEED } from '../test/support/full-speed.ts';
import { byTurns, ratiosOf } from './by-turns.ts';
import { readCommandLine } from './command-line.ts';
import { Figures } from './figures.ts';
import { TRAWL } from './measured-process.ts';
import { openBench } from './open-bench.ts';
import { writeSitemaps } from './origin.ts';
import { clear, trawl } from './rows.ts';
import type { Usage } from './usage-hook.ts';

const { rounds, pages } = readCommandLine(
  `npm run bench:api -- [--rounds 5] [--pages 20000]
Measures what the API costs a crawl: a worker at full speed with 50 reads a second and 100 listeners beside it, and the same worker with no API.
They take turns, each first in every other round, since a machine's speed changes within minutes; only the ratio counts.`,
  { rounds: 5, pages: 20_000 },
);
const [READS_PER_SECOND, LISTENERS] = [50, 100];
type Side = 'alone' | 'asked';

/** What a worker did in one round. */
interface Work {
  readonly pagesPerSecond: number;
  readonly cpuUsPerPage: number;
}

const bench = await openBench(rounds);
const { folder, rabbitmqUrl, redisUrl } = bench;
const sitemap = await writeSitemaps(folder, bench.origin, 'api', pages);
try {
  const workOf = await byTurns(['alone', 'asked'] as const, rounds, (side, round) => crawl(side, `${side}-${round}`));
  const paceOf = (side: Side): number[] => workOf(side).map((work) => work.pagesPerSecond);
  for (const side of ['alone', 'asked'] as const) {
    const cost = new Figures(workOf(side).map(({ cpuUsPerPage }) => cpuUsPerPage));
    say(`${side}: ${new Figures(paceOf(side)).text()} pages/s, ${cost.text()} µs of the worker's CPU per page`);
  }
  say(`asked / alone, pages/s round by round: ${ratiosOf(paceOf('asked'), paceOf('alone')).text(3)}`);
} finally {
  await bench.stop();
}

async function crawl(side: Side, run: string): Promise<Work> {
  await clear(bench);
  await trawl(bench, ['produce', bench.origin + sitemap, '--run', run, '--json', ...AT_FULL_SPEED]);
  const asking = side === 'asked' ? await ask(run) : undefined;
  try {
    const work = ['work', '--exit-when-idle', '--log-format', 'json', ...AT_FULL_SPEED];
    const { wallMs, usage } = await trawl(bench, work);
    const { done } = JSON.parse((await trawl(bench, ['status', run, '--json'])).stdout);
    if (done !== pages) throw new Error(`expected ${pages} pages, got ${done}`);
    return { pagesPerSecond: (1_000 * pages) / wallMs, cpuUsPerPage: (1_000 * usage.cpuMs) / pages };
  } finally {
    await asking?.stop();
  }
}

/** Starts an API and sends it reads until stopped, beside listeners for its events. Stopping it prints the rates, and throws if a read was refused. */
async function ask(run: string): Promise<{ stop(): Promise<void> }> {
  const usageFile = join(folder, `usage-${run}.json`);
  const hook = join(import.meta.dirname, 'usage-hook.ts');
  const api = spawn(process.execPath, ['--import', hook, TRAWL, 'api', '--api-port', '0'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      BENCH_USAGE: usageFile,
      RABBITMQ_URL: rabbitmqUrl,
      REDIS_URL: redisUrl,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => api.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    api.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [found] = /http:\/\/\S+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the API ended: ${said}`)));
  });
  await untilReady(url);
  const agent = new Agent({ keepAlive: true });
  const [began, counts] = [performance.now(), { reads: 0, refused: 0, events: 0 }];
  const listening = Array.from({ length: LISTENERS }, () =>
    get(new URL('/api/events', url), (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => {
        counts.events += text.match(/^event: fleet$/gm)?.length ?? 0;
      });
    }).on('error', () => {}),
  );
  const paths = ['fleet', 'runs', `runs/${run}`, 'hosts', 'workers'];
  let asked = 0;
  const read = (): void => {
    const path = paths[asked++ % paths.length];
    get(new URL(`/api/${path}`, url), { agent }, (answer) => {
      counts.reads++;
      if (answer.statusCode !== 200) counts.refused++;
      answer.resume();
    }).on('error', () => {});
  };
  // A late timer catches up on the reads it missed.
  const reading = setInterval(() => {
    while (asked < ((performance.now() - began) / 1_000) * READS_PER_SECOND) read();
  }, 1_000 / READS_PER_SECOND);
  return {
    stop: async () => {
      clearInterval(reading);
      for (const each of listening) each.destroy();
      agent.destroy();
      const seconds = (performance.now() - began) / 1_000;
      api.kill('SIGTERM');
      await ended;
      const { reads, refused, events } = counts;
      if (refused > 0) throw new Error(`${refused} of ${reads} reads were refused`);
      const { cpuMs } = JSON.parse(await readFile(usageFile, 'utf8')) as Usage;
      const rates = `${(reads / seconds).toFixed(0)} reads/s, ${(events / seconds / LISTENERS).toFixed(2)} events/s to each`;
      say(
        `  ${rates}; the API: ${(cpuMs / 10 / seconds).toFixed(0)} % of a core, start-up included, in ${seconds.toFixed(0)} s`,
      );
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const isReady = await fetch(new URL('/readyz', url)).then(({ ok }) => ok);
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
