import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';

const {
  operands: [root = '', port],
} = readCommandLine(
  `node bench/node-origin.ts FOLDER PORT
Serves the pages of benches on a machine without nginx.`,
  {},
  [2, 2],
);
/** The file served for paths that match a pattern; the first match counts. */
const PAGES: readonly (readonly [paths: RegExp, file: string])[] = [
  [/^\/page\//, 'page.html'],
  [/^\/product\/.*\/reviews$/, 'reviews.html'],
  [/^\/product\//, 'product.html'],
];
const kept = new Map<string, Buffer>();

const answer: RequestListener = ({ url = '/' }, response) => {
  const file = PAGES.find(([paths]) => paths.test(url))?.[1];
  if (file !== undefined) {
    const page = kept.get(file) ?? readFileSync(join(root, file));
    kept.set(file, page);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length }).end(page);
    return;
  }
  const type = url.endsWith('.html') ? 'text/html; charset=utf-8' : 'application/xml';
  createReadStream(join(root, url.slice(1)))
    .on('error', () => response.writeHead(404).end())
    .on('open', () => response.writeHead(200, { 'content-type': type }))
    .pipe(response);
};
createServer(answer).listen(Number(port), '127.0.0.1');
