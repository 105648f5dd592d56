import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decoded } from '../../services/producer/decoding.ts';
import { unpacked } from '../../services/producer/unpacking.ts';
import { sitemapsIn } from '../../shared/task/robots-sitemaps.ts';
import { SitemapParser } from '../../shared/task/sitemap.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';

/** Sitemaps collected from other crawlers' suites, each with the URLs that are in it. They are not part of the project. */
const folder = process.env.CASES_DIR ?? '';

interface SitemapCase {
  readonly id: string;
  readonly file: string;
  readonly content_type: string;
  readonly mode: { readonly url_filter?: string };
  readonly urls?: readonly { readonly loc: string }[];
  /** Without checks of location and namespace, of which we make none. */
  readonly lenient_urls?: readonly string[];
}

interface RobotsCase {
  readonly id: string;
  readonly robots?: string;
  readonly robots_b64?: string;
  readonly base: string;
  readonly sitemaps: readonly string[];
}

function rows<T>(file: string): T[] {
  return readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function textOf(bytes: Uint8Array, contentType?: string): Promise<string[]> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const pieces: string[] = [];
  try {
    for await (const text of decoded(unpacked(source(), 2 ** 30), contentType)) pieces.push(text);
  } catch {
    // What came before counts.
  }
  return pieces;
}

function hrefOf(text: string): string {
  const url = readUrl(text);
  return isProblem(url) ? text : url.href;
}

// Cases with a URL filter show what their parser lets its user leave out, which ours doesn't offer.
const sitemapCases = rows<SitemapCase>('sitemaps/manifest.jsonl').filter(({ mode }) => mode.url_filter === undefined);
for (const { id, file, content_type, urls = [], lenient_urls } of sitemapCases) {
  test(`${id}: ${file} gives all its URLs`, async () => {
    const parser = new SitemapParser();
    const pieces = await textOf(readFileSync(join(folder, 'sitemaps', file)), content_type);
    const entries = [...pieces.flatMap((piece) => parser.write(piece)), ...parser.end()];
    const wanted = lenient_urls ?? urls.map(({ loc }) => loc);
    expect(entries.map(({ loc }) => hrefOf(loc))).toEqual(expect.arrayContaining(wanted.map(hrefOf)));
  });
}

for (const { id, robots = '', robots_b64, base, sitemaps } of rows<RobotsCase>('robots_sitemap_directive.jsonl')) {
  test(`${id}: a robots.txt names its sitemaps`, async () => {
    const bytes = robots_b64 === undefined ? Buffer.from(robots) : Buffer.from(robots_b64, 'base64');
    expect(sitemapsIn((await textOf(bytes)).join(''), base)).toEqual(sitemaps);
  });
}
