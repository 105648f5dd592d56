import { join } from 'node:path';
import { Figures } from '../figures.ts';
import { type PoliteFigures, politeCrawl } from '../polite/polite.ts';
import { hostAddresses } from '../polite/polite-hosts.ts';
import type { Bench, Lane } from '../rows.ts';
import type { Row } from '../table.ts';
import { makeCertificates } from './certificates.ts';

const CRAWL = { hosts: 500, pages: 10, workers: 'embedded' } as const;

/** Crawls HTTPS hosts at 60/min each with each lane, robots.txt included, with default settings. */
export async function tlsRows(bench: Bench): Promise<Row[]> {
  const certificates = await makeCertificates(bench.folder, hostAddresses(CRAWL.hosts));
  const env = { NODE_EXTRA_CA_CERTS: join(certificates, 'authority.pem') };
  const rows: Row[] = [];
  for (const lane of ['got', 'undici'] satisfies Lane[]) {
    const name = `tls-${lane}`;
    const figures = await politeCrawl({ ...bench, env }, { ...CRAWL, name, certificates, flags: ['--fetcher', lane] });
    rows.push(...rowsOf(lane, figures));
  }
  return rows;
}

function rowsOf(lane: Lane, { percent, cpuUsPerPage, soonest, mostConnections }: PoliteFigures): Row[] {
  const of = (value: number, digits?: number): string => new Figures([value]).text(digits);
  const what = `${CRAWL.hosts} TLS hosts × ${CRAWL.pages} pages, ${lane === 'got' ? 'embedded' : 'lean lane'}`;
  return [
    [`${what}, % of what is allowed`, of(percent, 1), '', ''],
    ['  connections to a host, at most', of(mostConnections), '≤ 1', ''],
    ['  CPU µs per page', of(cpuUsPerPage), '', ''],
    ['  soonest request, of the interval', of(soonest, 2), '≥ 0.85', ''],
  ];
}
