import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, inject, onTestFinished } from 'vitest';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { type Crawl, openCrawl } from './harness/crawl.ts';
import { type Round, row } from './harness/row.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

/** A crawl whose first worker reaches the broker through a proxy, at a heartbeat of 5 s; the others reach it directly. */
async function begin(round: Round): Promise<{ crawl: Crawl; proxy: TcpProxy }> {
  const rabbitmqUrl = inject('rabbitmqUrl');
  const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(rabbitmqUrl).port) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  const crawl = await openCrawl(round, { site: { delayMs: 20 } });
  crawl.startWorker({ env: { RABBITMQ_URL: `${proxy.inFrontOf(rabbitmqUrl)}?heartbeat=5` } });
  await crawl.begin();
  await crawl.someMoment();
  return { crawl, proxy };
}

const saysLost =
  ({ workers }: Crawl) =>
  (): boolean =>
    /connection lost/.test(workers[0]?.trawl.said ?? '');

describe('the network between a worker and the broker', () => {
  row(
    8,
    'the network holds back all traffic of a worker with the broker, and delivers it when others have done the work',
    async (round) => {
      const { crawl, proxy } = await begin(round);
      proxy.weather = { blackhole: true };
      await until('the worker notices', saysLost(crawl), { withinMs: 30_000 });
      proxy.weather = {};
      round.mended();
      await verdict(crawl, { lapses: true });
    },
  );

  row(9, 'connections to the broker are reset, cut in mid-frame, and left half open', async (round) => {
    const { crawl, proxy } = await begin(round);
    proxy.weather = { sliceBytes: 100 };
    proxy.cut();
    proxy.weather = { limitBytes: 20_000 };
    await until('the worker notices', saysLost(crawl), { withinMs: 30_000 });
    proxy.weather = {};
    proxy.halve();
    round.mended();
    await verdict(crawl, { faults: 4, lapses: true });
  });

  row('9b', 'every byte between a worker and the broker is 300 ms late', async (round) => {
    const { crawl, proxy } = await begin(round);
    proxy.weather = { latencyMs: 300 };
    round.mended();
    await verdict(crawl);
  });

  row(44, 'the names of broker and Redis do not resolve for a while', async (round) => {
    const [rabbitmqUrl, redisUrl] = [inject('rabbitmqUrl'), inject('redisUrl')].map((url) => new URL(url));
    const proxies = await Promise.all(
      [rabbitmqUrl, redisUrl].map(async (url) => {
        const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(url?.port) });
        await proxy.start();
        onTestFinished(() => proxy.stop());
        return proxy;
      }),
    );
    const crawl = await openCrawl(round, { workers: 2, site: { delayMs: 20 } });
    const hosts = join(crawl.workplace.folder, 'hosts');
    const known = '127.0.0.1 localhost broker.trawl.test redis.trawl.test\n';
    writeFileSync(hosts, known);
    // A private mount namespace, so that the machine's /etc/hosts stays as it is. Needs root.
    const under = ['unshare', '--mount', 'sh', '-c', `mount --bind ${hosts} /etc/hosts && exec "$@"`, 'sh'];
    const env = {
      RABBITMQ_URL: `amqp://guest:guest@broker.trawl.test:${proxies[0]?.port}`,
      REDIS_URL: `redis://redis.trawl.test:${proxies[1]?.port}`,
    };
    crawl.startWorker({ env, under });
    await crawl.begin();
    await crawl.someMoment();
    writeFileSync(hosts, '127.0.0.1 localhost\n');
    for (const proxy of proxies) proxy.cut();
    const said = (): string => crawl.workers[0]?.trawl.said ?? '';
    await until('the worker says what it waits for', () => /ENOTFOUND|EAI_AGAIN/.test(said()), { withinMs: 20_000 });
    await passes(3_000);
    writeFileSync(hosts, known);
    const before = said().length;
    await until(
      'it is connected again',
      () =>
        said()
          .slice(before)
          .match(/connected again/g)?.length === 2,
      {
        withinMs: 30_000,
      },
    );
    round.mended();
    await verdict(crawl, { lapses: true });
  });
});
