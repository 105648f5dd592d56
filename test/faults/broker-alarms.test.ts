import { describe, expect } from 'vitest';
import { alarmOf } from '../../shared/transports/rabbitmq/alarm.ts';
import { openCrawl } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

const servers = ownServers('rabbitmq');

describe('the broker has an alarm', () => {
  const alarms = [
    [10, 'memory', ['set_vm_memory_high_watermark', '0.0001'], ['set_vm_memory_high_watermark', '0.4']],
    [11, 'disk', ['set_disk_free_limit', 'mem_relative', '1000.0'], ['set_disk_free_limit', '50MB']],
  ] as const;
  for (const [number, what, raise, clear] of alarms) {
    row(number, `the broker has a ${what} alarm, and takes no messages`, async (round) => {
      // Without dead letters, each of which would wait half a minute. Slow enough that the run isn't over before `rabbitmqctl`, which
      // is slow on a busy machine, has raised the alarm: only publishers learn of an alarm.
      const crawl = await openCrawl(round, {
        rabbitmqUrl: servers().rabbitmq.url,
        ...{ trouble: {}, pages: 500, perMinute: 600 },
      });
      await crawl.begin();
      await crawl.reaches(0.05 + 0.1 * round.random());
      try {
        await servers().rabbitmq.ctl(...raise);
        await until('somebody says so', () => crawl.said.includes('accepts no messages for now'));
        expect(await alarmOf(servers().rabbitmq.url, 'trawl doctor'), 'and so does doctor').toBe(`low on ${what}`);
        await until('what was out is worked', async () => {
          const states = new Set(await crawl.statesInFlight());
          states.delete('publishing');
          if (states.size > 0) throw new Error(`still ${[...states].join(', ')}`);
          return true;
        });
      } finally {
        await servers().rabbitmq.ctl(...clear);
      }
      round.mended();
      expect(await alarmOf(servers().rabbitmq.url, 'trawl doctor')).toBeUndefined();
      await verdict(crawl, { lapses: true });
    });
  }

  row('10b', 'a worker is told to stop while the broker takes no messages', async (round) => {
    const { rabbitmq } = servers();
    const crawl = await openCrawl(round, {
      ...{ rabbitmqUrl: rabbitmq.url, trouble: {}, pages: 400, workers: 1, slots: 2, perMinute: 'none' },
      ...{ site: { delayMs: 200 }, flags: ['--release-window', '60'] },
    });
    await crawl.begin();
    await crawl.reaches(0.05);
    try {
      await rabbitmq.ctl('set_vm_memory_high_watermark', '0.0001');
      await until('the worker says so', () => crawl.workers[0]?.trawl.said.includes('accepts no messages') === true);
      // Messages that it publishes now wait until the alarm is over.
      await until('it waits', async () => (await crawl.statesInFlight()).includes('publishing'));
      crawl.workers[0]?.trawl.signal('SIGTERM');
      await crawl.workers[0]?.trawl.says(/stopping/);
      const before = crawl.site.requests.length;
      await passes(3_000);
      expect(crawl.site.requests.length - before, 'pages asked for after the signal').toBeLessThanOrEqual(2);
    } finally {
      await rabbitmq.ctl('set_vm_memory_high_watermark', '0.4');
    }
    round.mended();
    await crawl.workers[0]?.trawl.ended;
    await crawl.begin();
    await verdict(crawl, { lapses: true });
  });
});
