import { cpus, release, totalmem, type } from 'node:os';
import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import { fastHost } from './broad.ts';
import { readCommandLine } from './command-line.ts';
import { Figures } from './figures.ts';
import { openBench } from './open-bench.ts';
import { peerRows } from './peers/peers.ts';
import { fittedHosts } from './polite/fitted-hosts.ts';
import { type MixedFigures, silentHosts, slowNames } from './polite/mixed-hosts.ts';
import { type PoliteFigures, politeCrawl } from './polite/polite.ts';
import {
  bareLoop,
  embeddedCrawl,
  fleet,
  longestScript,
  memory,
  politeness,
  producer,
  roundTrips,
  type Speed,
  startToFirstPage,
} from './rows.ts';
import { threeStepRows } from './shop/three-steps.ts';
import { judged, type Row, tableOf } from './table.ts';
import { tlsRows } from './tls/tls.ts';

const {
  rounds,
  full: isFull,
  peers: hasPeers,
} = readCommandLine(
  `npm run bench -- [--rounds 2] [--full] [--peers]
Prints a table of figures, each with its target and its ratio to a bare got loop measured in the same run. --full adds five million URLs
through the producer, and gives each row all its hosts, however slow the machine; --peers adds other crawlers on the same pages.`,
  { rounds: 2, full: false, peers: false },
);
const began = performance.now();
const bench = await openBench(rounds);

try {
  say(await machine());
  const single = (value: number): Figures => new Figures([value]);
  const bare = await step('bare got loop', () => bareLoop(bench));
  const embedded = await step('embedded crawl', () => embeddedCrawl(bench));
  const leanEmbedded = await step('embedded crawl, lean lane', () => embeddedCrawl(bench, 'undici'));
  const shop = await step('three steps', () => threeStepRows(bench));
  const one = await step('fleet, one worker', () => fleet(bench, 1));
  const leanOne = await step('fleet, one worker, lean lane', () => fleet(bench, 1, 'undici'));
  const two = await step('fleet, two workers', () => fleet(bench, 2));
  const trips = await step('round trips', () => roundTrips(bench));
  const produced = await step('producer', () => producer(bench, 200_000, rounds));
  const full = isFull ? await step('producer, 5 M', () => producer(bench, 5_000_000, 1)) : undefined;
  const bytes = await step('memory', () => memory(bench));
  const compact = await step('memory, compact', () => memory(bench, 'compact'));
  const longest = await step('a million URLs', () => longestScript(bench));
  const polite = await step('politeness', () => politeness(bench));
  const fitted = isFull ? (hosts: number): number => hosts : fittedHosts(bare);
  const [thousand, twoThousand] = [fitted(1_000), fitted(2_000)];
  const many = { name: 'broad', hosts: twoThousand, pages: 25 };
  const broad = await step('many hosts, embedded', () => politeCrawl(bench, { ...many, workers: 'embedded' }));
  const broadFleet = await step('many hosts, fleet of two', () => politeCrawl(bench, { ...many, workers: 2 }));
  const slowWeb = { name: 'slow', hosts: thousand, pages: 15, answerMs: 1_000 };
  const slow = await step('slow answers', () => politeCrawl(bench, { ...slowWeb, workers: 'embedded' }));
  const lean = { hosts: twoThousand, flags: ['--fetcher', 'undici'], workers: 'embedded' } as const;
  const slowLean = await step('slow answers, lean lane', () =>
    politeCrawl(bench, { ...slowWeb, name: 'slow-lean', ...lean }),
  );
  const names = await step('slow names', () => slowNames(bench, twoThousand));
  const silent = await step('silent hosts', () => silentHosts(bench, thousand));
  const tls = await step('TLS', () => tlsRows(bench));
  const fast = await step('one fast host', () => fastHost(bench));
  const start = await step('start', () => startToFirstPage(bench));
  const peers = hasPeers ? await step('peers', () => peerRows(bench, bare)) : { rows: [], missing: [] };
  const ofBare = (times: number): string => `≤ ${single(times * bare.cpuUsPerPage.median).text()}`;
  const rssRow = ({ rssMb }: Speed): Row => ['  RSS MB', rssMb.text(), '≤ 400', ''];
  const count = (hosts: number): string => single(hosts).text();
  const ratio = (speed: Figures): string => (speed.median / bare.pagesPerSecond.median).toFixed(2);
  const rows: Row[] = [
    ['bare got loop, pages/s', bare.pagesPerSecond.text(), '', '1.00'],
    ['  CPU µs per page', bare.cpuUsPerPage.text(), '', ''],
    ['embedded crawl, pages/s', embedded.pagesPerSecond.text(), 'ratio ≥ 0.45', ratio(embedded.pagesPerSecond)],
    ['  CPU µs per page', embedded.cpuUsPerPage.text(), '', ''],
    rssRow(embedded),
    [
      'embedded crawl, lean lane, pages/s',
      leanEmbedded.pagesPerSecond.text(),
      'ratio ≥ 1.2',
      ratio(leanEmbedded.pagesPerSecond),
    ],
    ['  CPU µs per page', leanEmbedded.cpuUsPerPage.text(), '', ''],
    rssRow(leanEmbedded),
    ...shop,
    ['fleet, one worker, pages/s', one.pagesPerSecond.text(), 'ratio ≥ 0.40', ratio(one.pagesPerSecond)],
    ['  CPU µs per page in the worker', one.cpuUsPerPage.text(), ofBare(2), ''],
    rssRow(one),
    ['  Redis commands per page', single(trips.commands).text(2), '', ''],
    ['  deliveries per page', single(trips.deliveries).text(2), '', ''],
    [
      'fleet, one worker, lean lane, pages/s',
      leanOne.pagesPerSecond.text(),
      'ratio ≥ 0.8',
      ratio(leanOne.pagesPerSecond),
    ],
    ['  CPU µs per page in the worker', leanOne.cpuUsPerPage.text(), ofBare(1.2), ''],
    rssRow(leanOne),
    ['fleet, two workers, pages/s', two.pagesPerSecond.text(), '', ratio(two.pagesPerSecond)],
    ['  CPU µs per page in the workers', two.cpuUsPerPage.text(), '', ''],
    ['producer, 200 000 URLs, URLs/s', produced.urlsPerSecond.text(), '≥ 20 000', ''],
    ['  RSS MB', produced.maxRssMb.text(), '≤ 200', ''],
    ...(full === undefined
      ? []
      : ([
          ['producer, 5 000 000 URLs, URLs/s', full.urlsPerSecond.text(), '≥ 20 000', ''],
          ['  RSS MB', full.maxRssMb.text(), '≤ 200', ''],
        ] as const)),
    ['Redis bytes per known URL', single(bytes.known).text(), '≤ 150', ''],
    ['Redis bytes per known URL, compact', single(compact.known).text(1), '≤ 16', ''],
    ['Redis bytes per waiting URL, beside', single(bytes.waiting).text(), '≤ 200', ''],
    ['longest Redis script, a million URLs, ms', longest.text(1), '≤ 20', ''],
    ['600/min, four workers, % of it used', polite.text(1), '≥ 95', ''],
    ...politeRows(`${count(twoThousand)} hosts × 25 pages, embedded`, broad, 90, { cpu: ofBare(2), rss: '≤ 450' }),
    ...politeRows(`${count(twoThousand)} hosts × 25 pages, fleet of two`, broadFleet, 85, {
      cpu: ofBare(2),
      rss: '≤ 450',
    }),
    ...politeRows(`${count(thousand)} hosts × 15 pages that take 1 s`, slow, 80, { rss: '≤ 500' }),
    ...politeRows(`${count(twoThousand)} hosts × 15 pages that take 1 s, lean lane`, slowLean, 80, { rss: '≤ 500' }),
    ...mixedRows(`${count(twoThousand)} names of 50 ms, 1 % take 5 s: the others, % of what is allowed`, names, 85),
    ['  those of 5 s, % of what is allowed', single(names.slowPercent).text(1), '≥ 85', ''],
    ...mixedRows(`${count(thousand)} hosts beside as many silent ones, % of what is allowed`, silent, 80),
    ...tls,
    ['6 000/min, one worker, % of it used', fast.percent.text(1), '≥ 95', ''],
    ['  scripts per page', fast.scripts.text(2), '', ''],
    ['start to first page, embedded, s', start.text(2), '≤ 1', ''],
    ...peers.rows,
  ];
  process.stdout.write(`\n${tableOf(['', 'median (least–most)', 'must', 'ratio'], rows.map(judged))}`);
  for (const why of peers.missing) say(why);
  say(`${((performance.now() - began) / 1_000).toFixed(0)} s in all.`);
} finally {
  await bench.stop();
}

function politeRows(
  what: string,
  { percent, cpuUsPerPage, rssMb, soonest }: PoliteFigures,
  least: number,
  { cpu = '', rss = '' }: { readonly cpu?: string; readonly rss?: string } = {},
): Row[] {
  const of = (value: number, digits?: number): string => new Figures([value]).text(digits);
  return [
    [`${what}, % of what is allowed`, of(percent, 1), `≥ ${least}`, ''],
    ['  CPU µs per page', of(cpuUsPerPage), cpu, ''],
    ['  RSS MB, the largest process', of(rssMb), rss, ''],
    ['  soonest request, of the interval', of(soonest, 2), '≥ 0.85', ''],
  ];
}

function mixedRows(what: string, { percent, rssMb, soonest }: MixedFigures, least: number): Row[] {
  const of = (value: number, digits?: number): string => new Figures([value]).text(digits);
  return [
    [what, of(percent, 1), `≥ ${least}`, ''],
    ['  RSS MB', of(rssMb), '', ''],
    ['  soonest request, of the interval', of(soonest, 2), '≥ 0.85', ''],
  ];
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  process.stderr.write(`${name} … `);
  const startedAt = performance.now();
  const result = await work();
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`);
  return result;
}

async function machine(): Promise<string> {
  const connection = await connect(bench.rabbitmqUrl);
  const { version: rabbitmq } = connection.connection.serverProperties;
  await connection.close();
  const redis = new Redis(bench.redisUrl);
  const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1];
  redis.disconnect();
  const [cpu] = cpus();
  return [
    `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.versions.node}`,
    `RabbitMQ ${rabbitmq}, Redis ${version} (AOF everysec), ${bench.originName}: all on this machine, with the workers.`,
    `Pages of 10 KB with 30 links; 30 000 a round, ${rounds} rounds; 32 at once; RATE_LIMIT=none HOST_CONCURRENCY=none.`,
    'CPU is user and system time of the whole process, start-up and compilation included.',
  ].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
