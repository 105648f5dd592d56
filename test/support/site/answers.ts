import { after, every, numberIn, type Route, send, type Visit } from './route.ts';

/** The bytes of `Grüße` in hex, by charset. */
const GREETINGS: Readonly<Record<string, string>> = {
  'utf-8': '4772c3bcc39f65',
  'windows-1252': '4772fcdf65',
  'utf-16le': '47007200fc00df006500',
  'utf-16be': '0047007200fc00df0065',
};

const MARKS: Readonly<Record<string, string>> = { 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff' };

/**
 * Answers of all kinds that a healthy server gives.
 *
 * | path                                   | answer                                                        |
 * |----------------------------------------|---------------------------------------------------------------|
 * | `/status/<code>?retry-after=`          | that status                                                   |
 * | `/redirect/<n>`                        | n redirects, the last one to `/page/1`                        |
 * | `/redirect-to?url=&status=`            | one redirect, default 302                                     |
 * | `/slow/<ms>`                           | 200 after that time                                           |
 * | `/drip?ms=&bytes=`                     | headers at once, then a byte every `ms`                       |
 * | `/big?bytes=`                          | a body of that length; `&chunked` without saying so           |
 * | `/type?ct=`                            | that content type; without `ct`, none                         |
 * | `/charset/<label>?say=header\|meta\|bom` | `Grüße` in that charset, declared in one way or not at all    |
 * | `/cookie`                              | sets a cookie                                                 |
 */
export const ANSWERS: readonly Route[] = [
  [/^\/status\/(\d{3})$/, answerStatus],
  [
    /^\/redirect\/(\d+)$/,
    ({ response, args: [n] }) => redirect(response, n === '1' ? '/page/1' : `./${Number(n) - 1}`),
  ],
  [/^\/redirect-to$/, ({ response, url }) => redirect(response, url.searchParams.get('url') ?? '', statusIn(url))],
  [/^\/slow\/(\d+)$/, answerSlowly],
  [/^\/drip$/, drip],
  [/^\/big$/, answerBig],
  [/^\/type$/, answerType],
  [/^\/charset\/([\w-]+)$/, answerCharset],
  [/^\/cookie$/, ({ response }) => send(response, 'text/plain', 'crumbs', { 'set-cookie': 'taste=sweet' })],
];

function answerStatus({ response, url, args: [code] }: Visit): void {
  const retryAfter = url.searchParams.get('retry-after');
  response.writeHead(Number(code), retryAfter === null ? {} : { 'retry-after': retryAfter });
  response.end();
}

function redirect(response: Visit['response'], location: string, status = 302): void {
  response.writeHead(status, { location, 'content-length': 5 });
  response.end('moved');
}

function statusIn(url: URL): number {
  return numberIn(url, 'status', 302);
}

function answerSlowly({ response, args: [ms] }: Visit): void {
  after(Number(ms), response, () => send(response, 'text/plain', 'at last'));
}

function drip({ response, url }: Visit): void {
  let left = numberIn(url, 'bytes', 1_000_000);
  response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
  every(numberIn(url, 'ms', 10), response, () => {
    if (left-- > 0) response.write('.');
    else response.end();
  });
}

function answerBig({ response, url }: Visit): void {
  let left = numberIn(url, 'bytes', 1_000_000);
  response.writeHead(200, {
    'content-type': 'text/plain',
    ...(url.searchParams.has('chunked') ? {} : { 'content-length': left }),
  });
  const more = (): void => {
    while (left > 0) {
      const size = Math.min(left, 65_536);
      left -= size;
      if (!response.write(Buffer.alloc(size, 'x'))) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

function answerType({ response, url }: Visit): void {
  const type = url.searchParams.get('ct');
  response.writeHead(200, type === null ? {} : { 'content-type': type });
  response.end('of some kind');
}

function answerCharset({ response, url, args: [label = ''] }: Visit): void {
  const say = url.searchParams.get('say');
  const head = say === 'meta' ? Buffer.from(`<meta charset="${label}">`) : Buffer.alloc(0);
  const mark = Buffer.from(say === 'bom' ? (MARKS[label] ?? '') : '', 'hex');
  const body = Buffer.concat([mark, head, Buffer.from(GREETINGS[label] ?? '', 'hex')]);
  send(response, say === 'header' ? `text/html; charset=${label}` : 'text/html', body);
}
