import { createServer, type RequestListener } from 'node:http';
import { createServer as createSilentServer } from 'node:net';
import { readCommandLine } from '../command-line.ts';
import { page } from '../origin.ts';

/** The requests to one host, as seen by the site. */
export interface HostSeen {
  readonly pages: number;
  /** When the last page was answered, in epoch milliseconds. */
  readonly lastAt: number;
  /** The shortest time between two requests to the host, in milliseconds. */
  readonly soonestMs: number;
}
export type Seen = Readonly<Record<string, HostSeen>>;

const {
  operands: [port = '', pages = '', answering = '', silent = ''],
} = readCommandLine(
  `node bench/polite/mixed-site.ts PORT PAGES ANSWERING [SILENT]
A site of many hosts, in a process of its own. It listens on two comma-separated lists of addresses: the first ones answer at once, the
others accept connections and never answer. It sends a message when it listens, one when it has answered PAGES pages, and, asked by a
message, what it saw of each Host.`,
  {},
  [3, 4],
);
const body = Buffer.from(page());
const hosts = new Map<string, { pages: number; lastAt: number; askedAt: number; soonestMs: number }>();
let answered = 0;

const answer: RequestListener = ({ url = '/', headers }, response) => {
  const host = askedFor(headers.host ?? '');
  if (url === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length }).end(body);
  host.pages++;
  host.lastAt = Date.now();
  if (++answered === Number(pages)) process.send?.('all pages');
};

/** Notes a request to a host. */
function askedFor(name: string) {
  const now = performance.now();
  const host = hosts.get(name) ?? {
    pages: 0,
    lastAt: 0,
    askedAt: Number.NEGATIVE_INFINITY,
    soonestMs: Number.MAX_VALUE,
  };
  hosts.set(name, host);
  host.soonestMs = Math.min(host.soonestMs, now - host.askedAt);
  host.askedAt = now;
  return host;
}

process.on('message', () => process.send?.(Object.fromEntries(hosts) satisfies Seen));
const servers = [
  ...listOf(answering).map((address) => ({ address, server: createServer({ keepAliveTimeout: 60_000 }, answer) })),
  ...listOf(silent).map((address) => {
    const server = createSilentServer((socket) => {
      askedFor(`${address}:${port}`);
      socket.on('error', () => {}).resume();
    });
    return { address, server };
  }),
];
let listening = 0;
for (const { address, server } of servers) {
  server.listen(Number(port), address, () => {
    if (++listening === servers.length) process.send?.('listening');
  });
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',');
}
