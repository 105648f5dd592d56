import { describe, expect, test } from 'vitest';
import { connectInspector } from '../../shared/backends/backends.ts';
import { silentLog } from '../../shared/runtime/logger.ts';
import { settingsFrom } from '../../shared/settings/settings.ts';
import { testTransport } from '../support/stores/rabbitmq.ts';
import { type Crawl, type CrawlOptions, openCrawl } from './harness/crawl.ts';
import { inForm } from './harness/form.ts';
import { cpuSecondsOf } from './harness/processes.ts';
import { type Round, row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

const servers = ownServers('rabbitmq');

async function begin(round: Round, options: CrawlOptions = {}): Promise<Crawl> {
  const crawl = await openCrawl(round, { rabbitmqUrl: servers().rabbitmq.url, ...options });
  await crawl.begin();
  await crawl.someMoment();
  return crawl;
}

/** Whether `trawl doctor --worker` calls the worker with the latest heartbeat healthy. */
async function isHealthy({ workplace }: Crawl): Promise<boolean> {
  return (await workplace.run(['doctor', '--worker'])).code === 0;
}

describe('the broker breaks', () => {
  row(1, 'the broker is restarted cleanly', async (round) => {
    const crawl = await begin(round);
    await servers().rabbitmq.ctl('stop_app');
    await servers().rabbitmq.ctl('start_app');
    round.mended();
    // Tasks that were being published have an unknown fate, and come back when their leases lapse.
    await verdict(crawl, { lapses: true });
  });

  row(2, 'the broker is killed, and starts again on its data', async (round) => {
    const crawl = await begin(round);
    await servers().rabbitmq.kill();
    await servers().rabbitmq.start();
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(
    3,
    `the broker is away for ${inForm('5 min', '30 s')}`,
    async (round) => {
      const crawl = await begin(round);
      await servers().rabbitmq.stop();
      const [before, awayMs] = [crawl.workers.map(({ trawl }) => cpuSecondsOf(trawl)), inForm(300_000, 30_000)];
      await passes(awayMs);
      const spent = crawl.workers.map(({ trawl }, i) => cpuSecondsOf(trawl) - (before[i] ?? 0));
      expect(Math.max(...spent), 'CPU seconds of a worker that waits').toBeLessThan(awayMs / 10_000);
      expect(await isHealthy(crawl), 'health while the broker is away').toBe(false);
      await servers().rabbitmq.start();
      round.mended();
      await until('the workers are healthy again', () => isHealthy(crawl), { withinMs: 30_000, everyMs: 1_000 });
      await verdict(crawl, { lapses: true });
    },
    inForm(600_000, 180_000),
  );

  row(
    4,
    `the broker hangs for ${inForm('90 s', '20 s, at a heartbeat of 5 s')}`,
    async (round) => {
      const heartbeat = inForm('', '?heartbeat=5');
      const crawl = await begin(round, { rabbitmqUrl: `${servers().rabbitmq.url}${heartbeat}` });
      servers().rabbitmq.hang();
      await until('the workers notice', () => crawl.workers.every(({ trawl }) => /connection lost/.test(trawl.said)), {
        withinMs: inForm(90_000, 20_000),
      });
      servers().rabbitmq.goOn();
      round.mended();
      await verdict(crawl, { lapses: true });
    },
    inForm(300_000, 180_000),
  );

  row(5, 'the broker closes every connection, again and again', async (round) => {
    const crawl = await begin(round, { pages: 400 });
    for (let times = 0; times < 4; times++) await servers().rabbitmq.ctl('close_all_connections', 'a fault');
    round.mended();
    await verdict(crawl, { faults: 4, lapses: true });
  });

  row(43, 'the broker password of the fleet is changed, and changed back', async (round) => {
    const { rabbitmq } = servers();
    await rabbitmq.ctl('add_user', 'crawler', 'sesame');
    await rabbitmq.ctl('set_permissions', 'crawler', '.*', '.*', '.*');
    try {
      const crawl = await begin(round, {
        rabbitmqUrl: rabbitmq.url.replace('guest:guest', 'crawler:sesame'),
        direct: { rabbitmqUrl: rabbitmq.url },
      });
      await rabbitmq.ctl('change_password', 'crawler', 'other');
      await rabbitmq.ctl('close_all_connections', 'a fault');
      await until('the workers say why', () => crawl.workers.every(({ trawl }) => /ACCESS_REFUSED/.test(trawl.said)));
      const before = crawl.workers.map(({ trawl }) => cpuSecondsOf(trawl));
      await passes(5_000);
      const spent = crawl.workers.map(({ trawl }, i) => cpuSecondsOf(trawl) - (before[i] ?? 0));
      expect(Math.max(...spent), 'CPU seconds of a worker that is refused').toBeLessThan(1);
      await rabbitmq.ctl('change_password', 'crawler', 'sesame');
      round.mended();
      expect(crawl.said).not.toContain('sesame');
      await verdict(crawl, { lapses: true });
    } finally {
      await rabbitmq.ctl('delete_user', 'crawler');
    }
  });

  // RabbitMQ checks this right only when something is published, and then closes the channel.
  const LACKING: readonly (readonly [refusal: RegExp, rights: readonly string[]])[] = [
    [/ExchangeUnbind.*access to exchange 'crawl' in vhost/, ['.*', '^(?!crawl$).*', '.*']],
    [/ExchangeUnbind.*access to exchange 'failed_exchange' in vhost/, ['.*', '^(?!failed_exchange$).*', '.*']],
  ];
  // The rights that the documentation names.
  const ENOUGH = String.raw`^(crawl|priority_queue|url_queue_ttl|failed_exchange|failed_urls(\.reading)?)$`;
  test('a RabbitMQ user without a needed right is refused by workers at the start and by doctor, with the missing right', async () => {
    const { rabbitmq } = servers();
    const url = rabbitmq.url.replace('guest:guest', 'narrow:sesame');
    const settings = settingsFrom({ flag: { RABBITMQ_URL: url }, environment: {}, file: {} });
    const looks = { settings, log: silentLog, name: 'a test', attempts: 1 };
    const declared = testTransport(rabbitmq.url, '');
    await declared.start();
    await declared.stop();
    await rabbitmq.ctl('add_user', 'narrow', 'sesame');
    for (const [refusal, rights] of LACKING) {
      await rabbitmq.ctl('set_permissions', 'narrow', ...rights);
      await expect(testTransport(url, '').start()).rejects.toThrow(refusal);
      await expect(connectInspector({ ...looks, asWorker: true })).rejects.toThrow(refusal);
    }
    await rabbitmq.ctl('set_permissions', 'narrow', ENOUGH, ENOUGH, ENOUGH);
    const transport = testTransport(url, '');
    await transport.start();
    await transport.stop();
    await (await connectInspector({ ...looks, asWorker: true })).stop();
  });
});
