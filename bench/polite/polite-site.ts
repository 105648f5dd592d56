import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';
import { certificateOf } from '../tls/certificates.ts';

/** What the site of many hosts observed. */
export interface Seen {
  readonly requests: number;
  /** The shortest time between two requests to one host, in milliseconds. */
  readonly soonestMs: number;
  /** Connections to the host that had the most of them. */
  readonly mostConnections: number;
}

const {
  operands: [port = '0', answerMs = '0', ...addresses],
} = readCommandLine(
  `node bench/polite/polite-site.ts PORT ANSWER_MS ADDRESS…
A site of many hosts, in a process of its own. Each address is a host, and each answer takes ANSWER_MS. To any message from its parent it
replies with what it observed. If BENCH_CERTIFICATES names a folder made by makeCertificates, the hosts speak HTTPS.`,
  {},
  [3, Number.POSITIVE_INFINITY],
);
const certificates = process.env.BENCH_CERTIFICATES;
const page = pageOf(10_000);
const lastAsked = new Map<string, number>();
let [requests, soonestMs, mostConnections] = [0, Number.POSITIVE_INFINITY, 0];

const listener: RequestListener = ({ url = '/', headers: { host = '' } }, response) => {
  const now = performance.now();
  const gap = now - (lastAsked.get(host) ?? Number.NEGATIVE_INFINITY);
  lastAsked.set(host, now);
  requests++;
  soonestMs = Math.min(soonestMs, gap);
  const answer = (): void => {
    if (url === '/robots.txt') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length }).end(page);
  };
  if (answerMs === '0') answer();
  else setTimeout(answer, Number(answerMs));
};

process.on('message', () => process.send?.({ requests, soonestMs, mostConnections } satisfies Seen));
let listening = 0;
for (const [host, address] of addresses.entries()) {
  const server = serverOf(host, { keepAliveTimeout: 60_000 });
  let connections = 0;
  server.on('connection', () => {
    mostConnections = Math.max(mostConnections, ++connections);
  });
  server.listen(Number(port), address, () => {
    if (++listening === addresses.length) process.send?.('listening');
  });
}

function serverOf(host: number, options: ServerOptions): Server {
  if (certificates === undefined) return createServer(options, listener);
  const [key, cert] = ['key.pem', certificateOf(host)].map((name) => readFileSync(join(certificates, name)));
  return createSecureServer({ ...options, key, cert }, listener);
}

function pageOf(bytes: number): Buffer {
  const links = Array.from({ length: 30 }, (_, n) => `<a href="/page/${n * 137}.html">Link ${n} with a text</a>`);
  const head = `<!doctype html><html lang="en"><head><title>A page of the bench</title></head><body><nav>${links.join('\n')}</nav>`;
  const text = '<p class="text">Lorem ipsum dolor sit amet, <b>consectetur</b> adipiscing elit.</p>\n';
  return Buffer.from(head + text.repeat(Math.ceil((bytes - head.length) / text.length)));
}
