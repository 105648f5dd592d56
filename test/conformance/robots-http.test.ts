import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { requestRobots } from '../../services/worker/pipeline/hosts/robots-request.ts';
import { decide } from '../../shared/task/robots/robots-match.ts';
import { setupFor } from '../contract/suites/fetcher/setup.ts';
import { openLane } from '../support/lane.ts';

/** What becomes of a robots.txt by how it is answered: rows of other crawlers' suites and of the RFC, read in place. */
const folder = process.env.CASES_DIR ?? '';

interface HttpCase {
  readonly id: string;
  readonly status?: number;
  readonly redirects?: number;
  readonly redirect_loop?: boolean;
  readonly redirect_to?: string;
  readonly network_error?: string;
  readonly body?: string;
  readonly body_bytes?: number;
  readonly rule_at_byte?: number;
  readonly content_type?: string;
  readonly content_encoding?: string;
  readonly expect: string;
}

/** Rows that are not one request, and where they are tested. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  rh37: 'robots.test.ts: rules whose day is over are asked for again, and a 503 then pauses the host',
  rh38: 'robots.test.ts: a host is never taken for free because it failed for long',
  rh40: 'robots.test.ts: each origin has a robots.txt of its own',
};
/** Its author parses status 200 alone; by RFC 9309 section 2.3.1.1, any 2xx is a success. */
const PARSED_HERE = 'rh15';

const setup = setupFor(openLane);

const RULE = 'User-agent: *\nDisallow: /\n';
const NEVER = new AbortController().signal;

const cases = readFileSync(join(folder, 'robots_http.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): HttpCase => JSON.parse(line));

/** May the pages of an origin be fetched that answers like this? `wait`: not now. */
async function judge(row: HttpCase): Promise<'allowed' | 'forbidden' | 'wait'> {
  const code = row.network_error;
  const isName = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
  const { site, fetcher } = await setup({
    timeoutMs: code === 'ETIMEDOUT' ? 300 : 20_000,
    ...(code === 'TLS error' ? { site: { tls: true } } : {}),
    ...(isName ? { resolve: () => Promise.reject(Object.assign(new Error(code), { code })) } : {}),
  });
  site.on('/robots.txt', (request, response) => answer(row, request.socket, response));
  site.on('/hop', (request, response) => {
    const left = Number(new URL(request.url ?? '', site.origin).searchParams.get('left'));
    if (left === 0) response.end(RULE);
    else response.writeHead(302, { location: `/hop?left=${left - 1}` }).end();
  });
  const origin = isName ? 'http://a.test' : code === 'ECONNREFUSED' ? 'http://127.0.0.1:1' : site.origin;
  const redirects: string[] = [];
  let found = await requestRobots(origin, redirects, fetcher, { signal: NEVER });
  while (found.kind === 'moved') {
    redirects.push(found.to);
    found = await requestRobots(origin, redirects, fetcher, { signal: NEVER });
  }
  if (found.kind !== 'rules') return 'wait';
  return decide(found.rules, `${origin}/page`).isAllowed ? 'allowed' : 'forbidden';
}

function answer(row: HttpCase, socket: { resetAndDestroy?: () => void }, response: ServerResponse): void {
  if (row.network_error === 'ECONNRESET') socket.resetAndDestroy?.();
  else if (row.network_error !== undefined) return;
  else if (row.redirects !== undefined) response.writeHead(302, { location: `/hop?left=${row.redirects - 1}` }).end();
  else if (row.redirect_loop) response.writeHead(302, { location: '/robots.txt' }).end();
  else if (row.redirect_to !== undefined) response.writeHead(302, { location: row.redirect_to }).end();
  else if (row.body_bytes !== undefined) pour(response, row.body_bytes, row.rule_at_byte ?? 100);
  else if (row.content_encoding === 'gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(RULE));
  else {
    response.writeHead(row.status ?? 200, { 'content-type': row.content_type ?? 'text/plain' });
    response.end(row.body ?? RULE);
  }
}

function pour(response: ServerResponse, bytes: number, ruleAt: number): void {
  const line = `# ${'filler '.repeat(8)}\n`;
  const before = line.repeat(Math.floor(ruleAt / line.length));
  response.write(`${before}${' '.repeat(ruleAt - before.length)}\n${RULE}`);
  let left = bytes - ruleAt;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 65_536;
      if (!response.write(line.repeat(1_000))) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

function wantedOf({ expect: wanted }: HttpCase): string {
  if (/^parse|honoured|rules before the cap|decompress/.test(wanted)) return 'forbidden';
  if (/^disallow/.test(wanted)) return 'wait';
  return 'allowed';
}

const asked = cases.filter(({ id }) => ELSEWHERE[id] === undefined);

test.each(asked.map((row) => ({ ...row, wanted: row.id === PARSED_HERE ? 'forbidden' : wantedOf(row) })))(
  '$id: $expect',
  async (row) => {
    expect(await judge(row)).toBe(row.wanted);
  },
);

test('every row is here, or tested elsewhere', () => {
  expect([cases.length, asked.length]).toEqual([40, 40 - Object.keys(ELSEWHERE).length]);
});
