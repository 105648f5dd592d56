import { Redis } from 'ioredis';
import { inject, onTestFinished } from 'vitest';
import type { AtEnd } from '../shared-by-tests.ts';
import { TestSite, type TestSiteOptions } from '../site.ts';
import { deleteTopology, uniquePrefix } from '../stores/rabbitmq.ts';
import { openWorkplace, type Workplace } from './trawl.ts';

/** A fleet for one test: real servers with a unique prefix, a site, and a workplace for commands. */
export interface Fleet {
  readonly workplace: Workplace;
  readonly site: TestSite;
  readonly redis: Redis;
  /** Prefix of all its Redis keys. */
  readonly keyPrefix: string;
  /** Prefix of all its queues. */
  readonly queuePrefix: string;
}

/** @param env settings of all its processes */
export async function openFleet(
  options: TestSiteOptions = {},
  env: Readonly<Record<string, string>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Fleet> {
  const [rabbitmqUrl, redisUrl] = [inject('rabbitmqUrl'), inject('redisUrl')];
  const prefix = uniquePrefix();
  const site = new TestSite(options);
  await site.start();
  const redis = new Redis(redisUrl);
  atEnd(async () => {
    await site.stop();
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    redis.disconnect();
    await deleteTopology(rabbitmqUrl, prefix);
  });
  const servers = { RABBITMQ_URL: rabbitmqUrl, REDIS_URL: redisUrl, KEY_PREFIX: prefix, QUEUE_PREFIX: prefix };
  const workplace = await openWorkplace({ ...servers, ...env }, atEnd);
  return { workplace, site, redis, keyPrefix: prefix, queuePrefix: prefix };
}

/** The paths of the pages that were fetched, in order, without robots.txt and sitemaps. */
export function pagesFetched(site: TestSite): string[] {
  return site.requests.map(({ path }) => path).filter((path) => path.startsWith('/page/'));
}

/** The paths of the first `count` pages of a site. */
export function allPages(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `/page/${i + 1}`);
}
