import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { tryRun, which } from '../support/servers/machine.ts';
import type { Ending } from './harness/catalogue.ts';
import { openCrawl } from './harness/crawl.ts';
import { inForm } from './harness/form.ts';
import { residentBytesOf } from './harness/processes.ts';
import { row } from './harness/row.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

/** Finds a program that a row needs. Throws with the package to install if it is missing. */
function need(program: string, debianPackage: string): string {
  const found = which(program);
  if (found === undefined) throw new Error(`this row needs ${program}: sudo apt-get install ${debianPackage}`);
  return found;
}

function faketimeLibrary(): string {
  const found = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
  if (found === undefined) throw new Error('this row needs libfaketime.so.1: sudo apt-get install faketime');
  return found;
}

describe('the machine breaks', () => {
  row(36, 'the disk that records go to is full, and then it is not', async (round) => {
    const crawl = await openCrawl(round, { workers: 2, pages: 600, perMinute: 6_000 });
    const output = join(crawl.workplace.folder, 'output');
    mkdirSync(output);
    // Needs root.
    execFileSync(need('mount', 'mount'), ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', output]);
    onTestFinished(() => void tryRun('umount', ['-l', output]));
    await crawl.begin();
    await until('a worker says so', () => crawl.said.includes("records can't be stored"));
    execFileSync('mount', ['-o', 'remount,size=20m', output]);
    round.mended();
    await verdict(crawl, { faults: 2 });
  });

  row('36b', 'logs go to a full disk', async (round) => {
    const crawl = await openCrawl(round, { workers: 2 });
    const mute = crawl.startWorker({ under: ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'] });
    await crawl.begin();
    round.mended();
    await verdict(crawl);
    expect((await mute.trawl.ended).code).toBe(0);
  });

  row('36c', 'records outgrow the largest file size that is allowed', async (round) => {
    const crawl = await openCrawl(round, { workers: 2 });
    // 16 blocks of 512 bytes: after a few records, every write fails with EFBIG.
    const small = crawl.startWorker({ under: ['sh', '-c', 'ulimit -f 16 && exec "$@"', 'sh'] });
    await crawl.begin();
    await small.trawl.says(/records can't be stored/);
    round.mended();
    await verdict(crawl);
  });

  row(37, 'a worker runs out of file descriptors', async (round) => {
    const prlimit = need('prlimit', 'util-linux');
    const crawl = await openCrawl(round, {
      workers: 1,
      slots: 48,
      perMinute: 'none',
      site: { delayMs: 200 },
      flags: ['--max-attempts', '1'],
      trouble: { '/status/404': 'failed:http_4xx' },
    });
    crawl.startWorker({ under: [prlimit, '--nofile=52:52'] });
    await crawl.begin();
    round.mended();
    await verdict(crawl);
  });

  row(38, 'the clock of a worker is two hours ahead', async (round) => {
    const crawl = await openCrawl(round, { workers: 2 });
    // Not through the command `faketime`, which would not pass signals on to the worker.
    const env = { LD_PRELOAD: faketimeLibrary(), FAKETIME: '+2h', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    crawl.startWorker({ env });
    await crawl.begin();
    await crawl.someMoment();
    round.mended();
    await verdict(crawl);
  });

  row(
    39,
    `a worker is suspended for ${inForm('60 s', '20 s, at a heartbeat of 5 s')}, and resumes`,
    async (round) => {
      const rabbitmqUrl = `${inject('rabbitmqUrl')}${inForm('?heartbeat=20', '?heartbeat=5')}`;
      const crawl = await openCrawl(round, { rabbitmqUrl });
      await crawl.begin();
      await crawl.someMoment();
      const still = crawl.anyWorker();
      still.trawl.signal('SIGSTOP');
      await passes(inForm(60_000, 20_000));
      still.trawl.signal('SIGCONT');
      round.mended();
      await verdict(crawl, { lapses: true });
    },
    240_000,
  );

  row(40, 'a worker with little memory fetches many large pages', async (round) => {
    const large = Array.from({ length: 60 }, (_, n): [string, Ending] => [`/big?bytes=9000000&${n}`, 'done']);
    const crawl = await openCrawl(round, { workers: 1, slots: 32, pages: 20, trouble: Object.fromEntries(large) });
    const small = crawl.startWorker({ env: { NODE_OPTIONS: '--max-old-space-size=128' } });
    await small.trawl.says(/"consuming"/);
    crawl.produce();
    let most = 0;
    await until('the run ends', async () => {
      most = Math.max(most, residentBytesOf(small.trawl));
      return (await crawl.progress())?.endedAt !== undefined;
    });
    round.mended();
    await verdict(crawl);
    expect(most / 2 ** 20, 'MiB at most').toBeLessThan(1_024);
  });
});
