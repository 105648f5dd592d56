import { byTurns, ratiosOf } from '../by-turns.ts';
import { Figures } from '../figures.ts';
import { type Bench, CONCURRENCY, embeddedCrawl, type Lane, type Speed } from '../rows.ts';
import type { Row } from '../table.ts';
import { Crawlee } from './crawlee.ts';
import { Missing, type PeerFigures } from './peer.ts';
import { Scrapy } from './scrapy.ts';

/** Crawls pages of the one fast host. */
type Turn = () => Promise<PeerFigures>;

interface Peer {
  readonly title: string;
  readonly crawl: Turn;
  /** Bounds of how many times as fast as the peer Trawl must be, by lane. */
  readonly musts: Readonly<Record<Lane, string>>;
}

const LANES: readonly Lane[] = ['undici', 'got'];
const NO_MUSTS = { undici: '', got: '' };
const SAME_CONCURRENCY = ['--worker-concurrency', String(CONCURRENCY)];

/**
 * Measures other crawlers on the same pages, by turns with embedded crawls, since a machine's speed changes within minutes. A peer that isn't
 * available has no rows, but a sentence in `missing`.
 */
export async function peerRows(
  bench: Bench,
  bare: Speed,
): Promise<{ readonly rows: Row[]; readonly missing: string[] }> {
  const crawlee = await Crawlee.install(bench);
  const scrapy = Scrapy.find();
  const peers = [...peersOfCrawlee(bench, crawlee), ...peersOfScrapy(bench, scrapy)];
  const lanes = new Map<Lane, Turn>(LANES.map((lane) => [lane, () => trawl(bench, lane)]));
  const turns = [...lanes.values(), ...peers.map(({ crawl }) => crawl)];
  const figuresOf = await byTurns(turns, bench.rounds, (turn) => turn());
  const of = (turn: Turn | undefined): Rounds => new Rounds((turn && figuresOf(turn)) ?? []);
  const [lean, got] = LANES.map((lane) => of(lanes.get(lane))) as [Rounds, Rounds];
  const rows = [
    ...lean.rows('embedded crawl, lean lane, by turns with peers', bare),
    ...got.rows('embedded crawl, by turns with peers', bare),
    ...peers.flatMap(({ title, crawl, musts }): Row[] => {
      const rounds = of(crawl);
      return [
        ...rounds.rows(title, bare),
        ['  embedded crawl, lean lane, times that', lean.timesThoseOf(rounds).text(1), musts.undici, ''],
        ['  embedded crawl, times that', got.timesThoseOf(rounds).text(1), musts.got, ''],
      ];
    }),
    ...(scrapy instanceof Scrapy ? await politeRows(bench, scrapy) : []),
  ];
  return { rows, missing: [crawlee, scrapy].flatMap((peer) => (peer instanceof Missing ? [peer.why] : [])) };
}

function peersOfCrawlee(bench: Bench, crawlee: Crawlee | Missing): Peer[] {
  if (crawlee instanceof Missing) return [];
  const title = `Crawlee ${crawlee.version}`;
  return [
    {
      title: `${title}, HttpCrawler (parses nothing)`,
      crawl: () => crawlee.crawl(bench, 'http'),
      musts: { undici: '≥ 7', got: '≥ 4' },
    },
    { title: `${title}, CheerioCrawler`, crawl: () => crawlee.crawl(bench, 'cheerio'), musts: NO_MUSTS },
  ];
}

function peersOfScrapy(bench: Bench, scrapy: Scrapy | Missing): Peer[] {
  if (scrapy instanceof Missing) return [];
  return [{ title: `Scrapy ${scrapy.version}`, crawl: () => scrapy.crawl(bench), musts: NO_MUSTS }];
}

async function trawl(bench: Bench, lane: Lane): Promise<PeerFigures> {
  const { pagesPerSecond, cpuUsPerPage, rssMb } = await embeddedCrawl({ ...bench, rounds: 1 }, lane, SAME_CONCURRENCY);
  return { pagesPerSecond: pagesPerSecond.median, cpuUsPerPage: cpuUsPerPage.median, rssMb: rssMb.median };
}

/** The rounds of one program. */
class Rounds {
  readonly #figures: readonly PeerFigures[];

  constructor(figures: readonly PeerFigures[]) {
    this.#figures = figures;
  }

  rows(title: string, bare: Speed): Row[] {
    const of = (field: keyof PeerFigures): Figures => new Figures(this.#figures.map((each) => each[field]));
    const speed = of('pagesPerSecond');
    return [
      [`${title}, pages/s`, speed.text(), '', (speed.median / bare.pagesPerSecond.median).toFixed(2)],
      ['  CPU µs per page', of('cpuUsPerPage').text(), '', ''],
      ['  RSS MB', of('rssMb').text(), '', ''],
    ];
  }

  /** Returns how many times as fast this program is as the other one, round by round. */
  timesThoseOf(other: Rounds): Figures {
    const paceOf = ({ pagesPerSecond }: PeerFigures): number => pagesPerSecond;
    return ratiosOf(this.#figures.map(paceOf), other.#figures.map(paceOf));
  }
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
