import { createServer, type RequestListener } from 'node:http';

/** What the site of many hosts observed. */
export interface Seen {
  readonly requests: number;
  /** The shortest time between two requests to one host, in milliseconds. */
  readonly soonestMs: number;
}

// A site of many hosts, in a process of its own: node polite-site.ts PORT ANSWER_MS ADDRESS…
// Each address is a host, and each answer takes ANSWER_MS. To any message from its parent it replies with what it observed.
const [port = '0', answerMs = '0', ...addresses] = process.argv.slice(2);
const page = pageOf(10_000);
const lastAsked = new Map<string, number>();
let seen: Seen = { requests: 0, soonestMs: Number.POSITIVE_INFINITY };

const listener: RequestListener = ({ url = '/', headers: { host = '' } }, response) => {
  const now = performance.now();
  const gap = now - (lastAsked.get(host) ?? Number.NEGATIVE_INFINITY);
  lastAsked.set(host, now);
  seen = { requests: seen.requests + 1, soonestMs: Math.min(seen.soonestMs, gap) };
  const answer = (): void => {
    if (url === '/robots.txt') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length }).end(page);
  };
  if (answerMs === '0') answer();
  else setTimeout(answer, Number(answerMs));
};

process.on('message', () => process.send?.(seen));
let listening = 0;
for (const address of addresses) {
  createServer({ keepAliveTimeout: 60_000 }, listener).listen(Number(port), address, () => {
    if (++listening === addresses.length) process.send?.('listening');
  });
}

function pageOf(bytes: number): Buffer {
  const links = Array.from({ length: 30 }, (_, n) => `<a href="/page/${n * 137}.html">Link ${n} with a text</a>`);
  const head = `<!doctype html><html lang="en"><head><title>A page of the bench</title></head><body><nav>${links.join('\n')}</nav>`;
  const text = '<p class="text">Lorem ipsum dolor sit amet, <b>consectetur</b> adipiscing elit.</p>\n';
  return Buffer.from(head + text.repeat(Math.ceil((bytes - head.length) / text.length)));
}
