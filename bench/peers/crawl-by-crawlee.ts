import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readCommandLine } from '../command-line.ts';

/** The part of Crawlee 3 that is used here. */
interface Crawlee {
  readonly Configuration: new (options: { readonly persistStorage: boolean }) => object;
  readonly RequestList: { open(name: null, urls: readonly string[]): Promise<object> };
  readonly log: { setLevel(level: number): void; readonly LEVELS: { readonly ERROR: number } };
  readonly HttpCrawler?: CrawlerClass;
  readonly CheerioCrawler?: CrawlerClass;
}
type CrawlerClass = new (options: object, configuration: object) => { run(): Promise<Statistics> };
interface Statistics {
  readonly requestsFinished: number;
}
interface Context {
  readonly request: { readonly url: string };
  readonly response: { readonly statusCode: number };
  readonly body: Buffer | string;
}
interface CheerioContext extends Context {
  readonly $: (selector: string) => Iterable<{ readonly attribs: { readonly href: string } }> & { text(): string };
}

const {
  operands: [folder = '', kind = '', urlsFile = '', output = '', concurrency = '0'],
} = readCommandLine(
  `node bench/peers/crawl-by-crawlee.ts FOLDER http|cheerio URLS OUTPUT CONCURRENCY
Crawls a list of URLs with Crawlee, as fast as Crawlee can. Its packages are installed in FOLDER. Storage is in memory and the records
go to one file, because its default storage writes a file for each request and each record, which is slower.`,
  {},
  [5, 5],
);
const load = createRequire(join(folder, 'package.json'));
const crawlee = load(`@crawlee/${kind}`) as Crawlee;
crawlee.log.setLevel(crawlee.log.LEVELS.ERROR);
const urls = (await readFile(urlsFile, 'utf8')).trim().split('\n');
const lines = createWriteStream(output);

/** Reads title and links, as Trawl does by default. */
function readHtml({ request: { url }, response: { statusCode }, $ }: CheerioContext): void {
  const links = Array.from($('a[href]'), ({ attribs: { href } }) => new URL(href, url).href);
  lines.write(`${JSON.stringify({ url, status: statusCode, title: $('title').text(), links })}\n`);
}

/** HttpCrawler parses nothing. */
function readNothing({ request: { url }, response: { statusCode }, body }: Context): void {
  lines.write(`${JSON.stringify({ url, status: statusCode, bytes: body.length })}\n`);
}

const Crawler = kind === 'http' ? crawlee.HttpCrawler : crawlee.CheerioCrawler;
if (Crawler === undefined) throw new Error(`expected http or cheerio, got ${kind}`);
const began = performance.now();
const crawler = new Crawler(
  {
    // A list is faster than a queue, which has locks.
    requestList: await crawlee.RequestList.open(null, urls),
    requestHandler: kind === 'http' ? readNothing : readHtml,
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    useSessionPool: false,
    persistCookiesPerSession: false,
    maxRequestRetries: 0,
    statisticsOptions: { logIntervalSecs: 3_600 },
    preNavigationHooks: [
      // Generating a browser's headers costs CPU time.
      (_context: unknown, request: { useHeaderGenerator?: boolean }) => {
        request.useHeaderGenerator = false;
      },
    ],
  },
  new crawlee.Configuration({ persistStorage: false }),
);
const { requestsFinished } = await crawler.run();
lines.end();
await finished(lines);
process.stdout.write(JSON.stringify({ pages: requestsFinished, seconds: (performance.now() - began) / 1_000 }));
