import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';

// The web server of benches on a machine without nginx: node node-origin.ts FOLDER PORT
const [root = '', port] = process.argv.slice(2);
const page = readFileSync(join(root, 'page.html'));
const answer: RequestListener = ({ url = '/' }, response) => {
  if (url.startsWith('/page/')) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length }).end(page);
    return;
  }
  createReadStream(join(root, url.slice(1)))
    .on('error', () => response.writeHead(404).end())
    .on('open', () => response.writeHead(200, { 'content-type': 'application/xml' }))
    .pipe(response);
};
createServer(answer).listen(Number(port), '127.0.0.1');
