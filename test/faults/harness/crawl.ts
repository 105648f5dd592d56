import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfirmChannel, connect, type Options } from 'amqplib';
import { Redis } from 'ioredis';
import { inject, onTestFinished } from 'vitest';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import type { Queue } from '../../../shared/task/task/routing.ts';
import { openWorkplace, type Trawl, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite, type TestSiteOptions } from '../../support/site.ts';
import { deleteTopology, uniquePrefix } from '../../support/stores/rabbitmq.ts';
import { catalogue, type Ending, TROUBLE } from './catalogue.ts';
import { FORM, inForm } from './form.ts';
import type { Round } from './row.ts';
import { until } from './until.ts';

/** Options of a crawl. */
export interface CrawlOptions {
  /** Number of pages besides the trouble; default: 200. */
  readonly pages?: number;
  /** URLs that are not plain pages; default: {@link TROUBLE}. */
  readonly trouble?: Readonly<Record<string, Ending>>;
  /** Paths that are found through links only, with their expected outcomes; default: none. */
  readonly linked?: Readonly<Record<string, Ending>>;
  /** Default: {@link WORKERS}. */
  readonly workers?: number;
  /** Pages that one worker fetches at once; default: 8. */
  readonly slots?: number;
  /** Limit of requests per minute to the site, or `none`; default: 3000. */
  readonly perMinute?: number | 'none';
  readonly site?: TestSiteOptions;
  /** Servers of the row; default: the shared ones, which no row breaks. */
  readonly rabbitmqUrl?: string;
  readonly redisUrl?: string;
  /** Servers that the test itself connects to; default: the same ones. */
  readonly direct?: { readonly rabbitmqUrl?: string; readonly redisUrl?: string };
  /** A crawler in `CRAWLERS_DIR`; defaults to the crawler `page`. */
  readonly crawler?: string;
  /** More flags for workers and producers. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The record of a page or a join. */
export interface Made {
  readonly step: string;
  readonly url: string;
  readonly data?: unknown;
}

/** The expected results of the joins of a crawl. */
export interface Joined {
  /** How often each join is made. */
  readonly made: Readonly<Record<string, number>>;
  /** The records of an undisturbed run. */
  readonly records: readonly Made[];
}

/** A worker process. */
export interface Hand {
  readonly trawl: Trawl;
  /** Its User-Agent. */
  readonly name: string;
  /** Whether it was killed, so that its exit code means nothing. */
  isKilled: boolean;
}

/** Time without movement after which only leases can be left to wait for. */
const STILL_FOR_MS = 3_000;

/** Workers of a crawl; the short form has the fewest that leave one to take over. */
export const WORKERS = inForm(3, 2);

/** The run id of a crawl. */
export const RUN = 'mine';

/**
 * A crawl while something breaks: its own site, and workers and a producer as real processes on real servers, under a
 * unique prefix.
 */
export class Crawl {
  readonly round: Round;
  readonly options: CrawlOptions;
  readonly site: TestSite;
  readonly workplace: Workplace;
  readonly redis: Redis;
  readonly prefix: string;
  readonly rabbitmqUrl: string;
  readonly expected: Map<string, Ending>;
  readonly workers: Hand[] = [];
  producer: Trawl | undefined;
  /** `undefined` for a crawler without joins. */
  joined: Joined | undefined;
  readonly #seeds: ReadonlyMap<string, Ending>;
  readonly #runs: RedisRuns;

  constructor(round: Round, options: CrawlOptions, parts: Pick<Crawl, 'site' | 'workplace' | 'redis' | 'prefix'>) {
    this.round = round;
    this.options = options;
    this.site = parts.site;
    this.workplace = parts.workplace;
    this.redis = parts.redis;
    this.prefix = parts.prefix;
    this.rabbitmqUrl = options.direct?.rabbitmqUrl ?? options.rabbitmqUrl ?? inject('rabbitmqUrl');
    this.#seeds = catalogue(options.pages ?? 200, options.trouble ?? TROUBLE);
    this.expected = new Map([...this.#seeds, ...Object.entries(options.linked ?? {})]);
    this.#runs = new RedisRuns({ redis: this.redis, prefix: this.prefix, marks: 'exact' });
  }

  get flags(): string[] {
    const { perMinute = 3_000, slots = 8, flags = [] } = this.options;
    const rate = perMinute === 'none' ? 'none' : `${perMinute}/min`;
    return [
      ...['--rate', rate, '--host-concurrency', 'none', '--worker-concurrency', String(slots)],
      ...['--max-attempts', '2', '--private-hosts', '127.0.0.0/8', '--robots', 'ignore', '--cache-ttl', 'none'],
      ...flags,
    ];
  }

  /** Starts the workers, waits until they consume, and starts a producer that waits for the end of the run. */
  async begin(withProducer = this.producer === undefined): Promise<void> {
    const { workers = WORKERS } = this.options;
    const started = Array.from({ length: workers }, () => this.startWorker());
    await Promise.all(started.map(({ trawl }) => trawl.says(/"consuming"/)));
    if (withProducer) this.produce();
  }

  /** Offers all URLs before any worker runs, so that as many as possible are published at once. */
  async produceOnly(): Promise<void> {
    const { code, stderr } = await this.produce([]).ended;
    if (code !== 0) throw new Error(stderr);
  }

  startWorker(start: Parameters<Workplace['start']>[2] = {}): Hand {
    const name = `worker-${this.workers.length + 1}`;
    const args = ['work', ...this.flags, '--user-agent', name];
    const hand = { trawl: this.workplace.start(args, undefined, start), name, isKilled: false };
    this.workers.push(hand);
    return hand;
  }

  /** The flags of a producer, which has no slots. */
  get produceFlags(): string[] {
    const { crawler } = this.options;
    const flags = this.flags.filter((flag, i, all) => ![flag, all[i - 1]].includes('--worker-concurrency'));
    return crawler === undefined ? flags : ['--crawler', crawler, ...flags];
  }

  produce(flags: readonly string[] = ['--wait', '--json']): Trawl {
    // From a file, so that the successor of a killed producer reads the same list.
    const path = join(this.workplace.folder, 'urls.txt');
    if (!existsSync(path)) writeFileSync(path, this.list);
    const seeds = ['produce', '--urls-file', path, '--run', RUN];
    this.producer = this.workplace.start([...seeds, ...flags, ...this.produceFlags]);
    return this.producer;
  }

  /** Starts a producer that reads the site's sitemaps instead of a list. */
  produceSitemap(): Trawl {
    const seed = this.site.url('/sitemap-index.xml');
    this.producer = this.workplace.start(['produce', seed, '--run', RUN, '--wait', '--json', ...this.produceFlags]);
    return this.producer;
  }

  /** Resolves when all producers count as lost: after a minute, or in the short form at once. */
  async loseProducers(): Promise<void> {
    const key = `${this.prefix}run:${RUN}:producers`;
    if (FORM === 'short') for (const each of await this.redis.zrange(key, 0, -1)) await this.redis.zadd(key, 1, each);
    await until('the producers are lost', async () => (await this.progress())?.producers.open === 0, {
      withinMs: 90_000,
    });
  }

  /** The seeds of the crawl, one per line. */
  get list(): string {
    return [...this.#seeds.keys()].map((path) => this.urlOf(path)).join('\n');
  }

  /** The URL of a path of the site; other URLs are returned as they are. */
  urlOf(path: string): string {
    return path.startsWith('/') ? this.site.url(path) : path;
  }

  /** The inverse of `urlOf`. */
  pathOf(url: string): string {
    return url.startsWith(this.site.origin) ? url.slice(this.site.origin.length) : url;
  }

  /** Resolves when this share of the URLs has been requested. */
  async reaches(share: number): Promise<void> {
    await this.site.arrivals(Math.ceil(this.expected.size * share));
  }

  /** Resolves at a random moment, chosen by the seed, when 10 to 60 % of the URLs have been requested. */
  async someMoment(): Promise<void> {
    await this.reaches(0.1 + 0.5 * this.round.random());
  }

  kill(hand: Hand | undefined): void {
    if (hand === undefined) throw new Error('nobody to kill');
    hand.isKilled = true;
    hand.trawl.signal('SIGKILL');
  }

  /** Stops the workers with SIGTERM, as a deployment does. */
  async endWorkers(): Promise<void> {
    for (const { trawl } of this.workers) trawl.signal('SIGTERM');
    await Promise.all(this.workers.map(({ trawl }) => trawl.ended));
  }

  killProducer(): void {
    this.producer?.signal('SIGKILL');
    this.producer = undefined;
  }

  /** The output of all workers and the producer so far. */
  get said(): string {
    return [...this.workers.map(({ trawl }) => trawl.said), this.producer?.said ?? ''].join('\n');
  }

  /** Publishes a message directly, not through the program. */
  async publishByHand(queue: Queue, body: Buffer, properties: Options.Publish = {}): Promise<void> {
    await this.onChannel((channel) => void channel.publish(`${this.prefix}crawl`, queue, body, properties));
  }

  /** Uses the broker directly, and waits until it has confirmed everything published. */
  async onChannel(use: (channel: ConfirmChannel) => Promise<void> | void): Promise<void> {
    const connection = await connect(this.rabbitmqUrl);
    const channel = await connection.createConfirmChannel();
    await use(channel);
    await channel.waitForConfirms();
    await connection.close();
  }

  /** Returns a random living worker, chosen by the seed. */
  anyWorker(): Hand {
    const living = this.workers.filter(({ isKilled }) => !isKilled);
    const hand = living[Math.floor(this.round.random() * living.length)];
    if (hand === undefined) throw new Error('no worker lives');
    return hand;
  }

  async progress(): Promise<RunProgress | undefined> {
    return await this.#runs.progress(RUN);
  }

  /**
   * Resolves when the run has ended, and checks at every poll that its counters add up. With `lapses`, the short form makes
   * the 60 s leases lapse when nothing else moves any more, and with `queued too` those of queued tasks as well. The other form waits
   * until they lapse, or until the workers notice that deliveries are lost.
   */
  async ends(withinMs: number, lapses: boolean | 'queued too'): Promise<void> {
    let broken: RunProgress | undefined;
    let [last, movedAt] = ['', performance.now()];
    const look = async (): Promise<boolean> => {
      const progress = await this.progress();
      if (progress === undefined) return false;
      const { waiting, inFlight, done, skipped, failed, cancelled, discovered, endedAt } = progress;
      const states = [waiting, inFlight, done, skipped, failed, cancelled];
      if (states.reduce((a, b) => a + b) !== discovered) broken ??= progress;
      if (states.join() !== last) [last, movedAt] = [states.join(), performance.now()];
      if (lapses !== false && FORM === 'short' && performance.now() - movedAt > STILL_FOR_MS) {
        await this.lapse('publishing', 'working');
        if (lapses === 'queued too') await this.lapse('queued');
        // Lapsed tasks take a while to be released again, and must not lapse again before that.
        movedAt = performance.now();
      }
      return endedAt !== undefined;
    };
    try {
      await until('the run ends', look, { withinMs });
    } catch (error: unknown) {
      const said = this.workers.map(({ trawl }) => trawl.said.split('\n').slice(-4).join('\n')).join('\n');
      const states = (await this.statesInFlight()).join();
      throw new Error(`${JSON.stringify(await this.progress())}\nin flight: ${states}\n${said}`, { cause: error });
    }
    if (broken !== undefined) throw new Error(`the counters don't add up: ${JSON.stringify(broken)}`);
  }

  /** The states of the tasks in flight. */
  async statesInFlight(): Promise<string[]> {
    const entries = await this.redis.hvals(`${this.prefix}run:${RUN}:inflight`);
    return entries.map((entry) => entry.slice(0, entry.indexOf(' ')));
  }

  /** Makes the leases of tasks in these states lapse now, as if their time had passed. */
  async lapse(...states: readonly ('publishing' | 'queued' | 'working')[]): Promise<void> {
    const run = `${this.prefix}run:${RUN}`;
    for (const [release, entry] of Object.entries(await this.redis.hgetall(`${run}:inflight`))) {
      if (states.some((state) => entry.startsWith(state))) await this.redis.zadd(`${run}:leases`, 'XX', 1, release);
    }
  }
}

/** Prepares a crawl for one round without starting it. Everything it leaves is removed at the end of the row. */
export async function openCrawl(round: Round, options: CrawlOptions = {}): Promise<Crawl> {
  const prefix = uniquePrefix();
  const site = new TestSite({ pages: options.pages ?? 200, ...options.site });
  await site.start();
  const rabbitmqUrl = options.rabbitmqUrl ?? inject('rabbitmqUrl');
  const redisUrl = options.redisUrl ?? inject('redisUrl');
  const redis = new Redis(options.direct?.redisUrl ?? redisUrl, { maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  onTestFinished(async () => {
    await site.stop();
    const keys = await redis.keys(`${prefix}*`).catch(() => []);
    if (keys.length > 0) await redis.unlink(...keys);
    redis.disconnect();
    await deleteTopology(options.direct?.rabbitmqUrl ?? rabbitmqUrl, prefix);
  });
  const workplace = await openWorkplace({
    RABBITMQ_URL: rabbitmqUrl,
    REDIS_URL: redisUrl,
    KEY_PREFIX: prefix,
    QUEUE_PREFIX: prefix,
    LOG_FORMAT: 'json',
    ...options.env,
  });
  return new Crawl(round, options, { site, workplace, redis, prefix });
}
