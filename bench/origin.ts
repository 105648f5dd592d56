import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../test/support/servers/machine.ts';

/** Links and bytes of a page, about as on a news site, without pictures. */
const LINKS = 30;
const PAGE_BYTES = 10_000;
const URLS_PER_SITEMAP = 50_000;

/** A web server in a process of its own: nginx if installed, else a Node.js server. */
export interface Origin {
  readonly name: string;
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves a page of 10 KB at `/page/<anything>.html`, and the files of {@link writeSitemaps} and of the bench's shop (`shop/site.ts`).
 */
export async function startOrigin(folder: string): Promise<Origin> {
  const root = join(folder, 'site');
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'page.html'), page());
  const port = await freePort();
  const nginx = findNginx();
  const child = nginx === undefined ? startNodeOrigin(root, port) : await startNginx(nginx, folder, root, port);
  await untilOpen(port);
  return {
    name:
      nginx === undefined
        ? 'a Node.js server'
        : execFileSync('sh', ['-c', `${nginx} -v 2>&1`], { encoding: 'utf8' })
            .replace('nginx version: ', '')
            .trim(),
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await gone;
    },
  };
}

/** Writes an index of sitemaps with this many URLs of 80 characters. Returns its path. */
export async function writeSitemaps(folder: string, origin: string, name: string, urls: number): Promise<string> {
  const root = join(folder, 'site');
  const files: string[] = [];
  for (let from = 0; from < urls; from += URLS_PER_SITEMAP) {
    const file = `${name}-${files.length}.xml`;
    const locs = Array.from(
      { length: Math.min(URLS_PER_SITEMAP, urls - from) },
      (_, i) => `<url><loc>${pageUrl(origin, name, from + i)}</loc></url>`,
    );
    await writeFile(join(root, file), xml('urlset', locs));
    files.push(`<sitemap><loc>${origin}/${file}</loc></sitemap>`);
  }
  await writeFile(join(root, `${name}.xml`), xml('sitemapindex', files));
  return `/${name}.xml`;
}

/** A page's URL, 80 characters long. */
export function pageUrl(origin: string, name: string, n: number): string {
  const start = `${origin}/page/${name}-`;
  return `${start}${String(n).padStart(75 - start.length, '0')}.html`;
}

/** A page of 10 KB with 30 links. */
export function page(): string {
  const links = Array.from(
    { length: LINKS },
    (_, n) => `<a class="nav-link" href="/page/${n * 137}.html">Link ${n} with a text</a>`,
  );
  const head =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page of the bench</title></head><body>';
  let body = `<nav>${links.join('\n')}</nav><main>`;
  for (let n = 0; head.length + body.length < PAGE_BYTES; n++) {
    body += `<p class="text" id="p${n}">Lorem ipsum dolor sit amet, <b>consectetur</b> adipiscing elit, sed do eiusmod tempor.</p>\n`;
  }
  return `${head}${body}</main></body></html>`;
}

function xml(root: string, entries: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join('\n')}\n</${root}>\n`;
}

function findNginx(): string | undefined {
  return ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'].find((path) => existsSync(path));
}

async function startNginx(nginx: string, folder: string, root: string, port: number): Promise<ChildProcess> {
  const configuration = `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nodelay on; open_file_cache max=1000;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  types { text/html html; application/xml xml; } charset utf-8;
  server { listen 127.0.0.1:${port}; root ${root}; location /page/ { try_files /page.html =404; }
    location /product/ { try_files /product.html =404; } location ~ ^/product/.*/reviews$ { try_files /reviews.html =404; } }
}
`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration);
  return spawn(nginx, ['-c', file, '-p', folder], { stdio: 'ignore' });
}

function startNodeOrigin(root: string, port: number): ChildProcess {
  return fork(join(import.meta.dirname, 'node-origin.ts'), [root, String(port)], {
    stdio: 'ignore',
  });
}

async function untilOpen(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the web server of the bench never answered on port ${port}`);
}
