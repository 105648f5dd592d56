import { Figures } from '../figures.ts';
import { type Bench, CONCURRENCY, embeddedCrawl, type Lane, type Speed } from '../rows.ts';
import type { Row } from '../table.ts';
import { Crawlee, type CrawlerKind } from './crawlee.ts';
import { Missing, type PeerFigures } from './peer.ts';
import { Scrapy } from './scrapy.ts';

type Contestant = Lane | CrawlerKind | 'scrapy';

/** One crawl of the fast host. */
type Turn = () => Promise<PeerFigures>;

interface Peer {
  readonly contestant: Contestant;
  readonly title: string;
  /** How many times as fast Trawl must be, by lane. */
  readonly musts: Readonly<Record<Lane, string>>;
}

const NO_MUSTS = { undici: '', got: '' };
const SAME_CONCURRENCY = ['--worker-concurrency', String(CONCURRENCY)];

/**
 * Other crawlers on the same pages, by turns with embedded crawls, since a machine's speed changes within minutes. A peer that isn't
 * available has no rows, and a sentence in `missing`.
 */
export async function peerRows(
  bench: Bench,
  bare: Speed,
): Promise<{ readonly rows: Row[]; readonly missing: string[] }> {
  const turns = new Map<Contestant, Turn>([
    ['undici', () => trawl(bench, 'undici')],
    ['got', () => trawl(bench, 'got')],
  ]);
  const peers: Peer[] = [];
  const [crawlee, scrapy] = [await Crawlee.install(bench), Scrapy.find()];
  if (crawlee instanceof Crawlee) {
    const title = (name: string): string => `Crawlee ${crawlee.version}, ${name}`;
    turns.set('http', () => crawlee.crawl(bench, 'http'));
    turns.set('cheerio', () => crawlee.crawl(bench, 'cheerio'));
    peers.push({ contestant: 'http', title: title('HttpCrawler'), musts: { undici: '≥ 7', got: '≥ 4' } });
    peers.push({ contestant: 'cheerio', title: title('CheerioCrawler'), musts: NO_MUSTS });
  }
  if (scrapy instanceof Scrapy) {
    turns.set('scrapy', () => scrapy.crawl(bench));
    peers.push({ contestant: 'scrapy', title: `Scrapy ${scrapy.version}`, musts: NO_MUSTS });
  }
  const found = await takeTurns(turns, bench.rounds);
  const polite = scrapy instanceof Scrapy ? await politeRows(bench, scrapy) : [];
  return {
    rows: [...peers.flatMap((peer) => rowsOf(peer, found, bare)), ...polite],
    missing: [crawlee, scrapy].flatMap((peer) => (peer instanceof Missing ? [peer.why] : [])),
  };
}

async function trawl(bench: Bench, lane: Lane): Promise<PeerFigures> {
  const { pagesPerSecond, cpuUsPerPage, rssMb } = await embeddedCrawl({ ...bench, rounds: 1 }, lane, SAME_CONCURRENCY);
  return { pagesPerSecond: pagesPerSecond.median, cpuUsPerPage: cpuUsPerPage.median, rssMb: rssMb.median };
}

/** Figures of each round. */
type Found = ReadonlyMap<Contestant, PeerFigures[]>;

/** Runs every round; the second, fourth and so on in reverse order. */
async function takeTurns(turns: ReadonlyMap<Contestant, Turn>, rounds: number): Promise<Found> {
  const found = new Map(Array.from(turns.keys(), (each) => [each, [] as PeerFigures[]] as const));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [...turns] : [...turns].reverse();
    for (const [contestant, turn] of order) found.get(contestant)?.push(await turn());
  }
  return found;
}

function rowsOf({ contestant, title, musts }: Peer, found: Found, bare: Speed): Row[] {
  const rounds = found.get(contestant) ?? [];
  const timesThat = (lane: Lane): string => {
    const own = found.get(lane) ?? [];
    return new Figures(
      rounds.map(({ pagesPerSecond }, round) => (own[round]?.pagesPerSecond ?? 0) / pagesPerSecond),
    ).text(1);
  };
  const of = (field: keyof PeerFigures): Figures => new Figures(rounds.map((each) => each[field]));
  const speed = of('pagesPerSecond');
  return [
    [`${title}, pages/s`, speed.text(), '', (speed.median / bare.pagesPerSecond.median).toFixed(2)],
    ['  CPU µs per page', of('cpuUsPerPage').text(), '', ''],
    ['  RSS MB', of('rssMb').text(), '', ''],
    ['  embedded crawl, lean lane, times that', timesThat('undici'), musts.undici, ''],
    ['  embedded crawl, times that', timesThat('got'), musts.got, ''],
  ];
}

async function politeRows(bench: Bench, scrapy: Scrapy): Promise<Row[]> {
  const rows: Row[] = [];
  const of = (value: number, digits?: number): string => new Figures([value]).text(digits);
  for (const how of ['as it comes', 'tuned'] as const) {
    const { pagesPerSecond, percent, cpuUsPerPage, soonest } = await scrapy.crawlPolitely(bench, how);
    rows.push(
      [`Scrapy ${scrapy.version}, 2 000 hosts at 60/min, ${how}, % of what is allowed`, of(percent, 1), '', ''],
      ['  pages/s', of(pagesPerSecond), '', ''],
      ['  CPU µs per page', of(cpuUsPerPage), '', ''],
      ['  soonest request, of the interval', of(soonest, 2), '', ''],
    );
  }
  return rows;
}
