import { pageHtml } from './content.ts';
import { every, type Route, send, type Visit } from './route.ts';

/**
 * Servers in trouble.
 *
 * | path                    | answer                                                            |
 * |-------------------------|-------------------------------------------------------------------|
 * | `/hang`                 | none, ever                                                        |
 * | `/reset`                | the connection is reset instead                                   |
 * | `/reset-body`           | reset in the middle of the body                                   |
 * | `/truncated`            | a body shorter than its Content-Length, then the end              |
 * | `/truncated-chunks`     | a chunked body without its last chunk, then the end               |
 * | `/no-http`              | something that is not HTTP                                        |
 * | `/bad-chunks`           | a chunked body whose second chunk has no size                     |
 * | `/endless`              | a body that never ends                                            |
 * | `/endless-headers`      | headers that never end, as fast as the client reads               |
 * | `/drip-headers`         | headers that never end, one every 20 ms                           |
 * | `/overlong`             | a body longer than its Content-Length                             |
 * | `/endless-redirect?url=` | a redirect whose body never ends                                 |
 * | `/flaky/<key>/<k>`      | 503 the first k times, then page 1                                |
 */
export const FAULTS: readonly Route[] = [
  [/^\/hang$/, () => {}],
  [/^\/reset$/, ({ request }) => void request.socket.resetAndDestroy()],
  [/^\/reset-body$/, resetBody],
  [/^\/truncated$/, (visit) => raw(visit, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this')],
  [/^\/truncated-chunks$/, (visit) => raw(visit, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nonly\r\n')],
  [/^\/no-http$/, (visit) => raw(visit, 'NOT EVEN CLOSE\r\n\r\n')],
  [/^\/bad-chunks$/, (visit) => raw(visit, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nonly\r\nzz\r\n')],
  [/^\/endless$/, ({ response }) => pour(response)],
  [/^\/endless-headers$/, endlessHeaders],
  [/^\/drip-headers$/, dripHeaders],
  [/^\/overlong$/, (visit) => raw(visit, 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nonly this')],
  [/^\/endless-redirect$/, ({ response, url }) => pour(response, url.searchParams.get('url') ?? undefined)],
  [/^\/flaky\/([^/]+)\/(\d+)$/, answerFlaky],
];

function resetBody({ request, response }: Visit): void {
  response.writeHead(200, { 'content-length': 100 });
  response.write('only this', () => request.socket.resetAndDestroy());
}

function endlessHeaders({ request: { socket } }: Visit): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  const more = (): void => {
    while (!socket.destroyed && socket.write(`x-more: ${'x'.repeat(1_000)}\r\n`));
  };
  socket.on('drain', more);
  more();
}

function dripHeaders({ request: { socket }, response }: Visit): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  every(20, response, () => void socket.write('x: y\r\n'));
}

function raw({ request }: Visit, bytes: string): void {
  request.socket.end(bytes);
}

function pour(response: Visit['response'], location?: string): void {
  response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location });
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
  };
  response.on('drain', more);
  more();
}

function answerFlaky({ response, site, args: [key = '', times] }: Visit): void {
  const asked = (site.flaky.get(key) ?? 0) + 1;
  site.flaky.set(key, asked);
  if (asked <= Number(times)) response.writeHead(503).end();
  else send(response, 'text/html; charset=utf-8', pageHtml(site, 1));
}
