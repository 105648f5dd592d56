import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unpacked } from '../../services/producer/documents/unpacking.ts';
import { SitemapDocument } from '../../services/producer/sitemaps/sitemap-document.ts';
import { decodeStream } from '../../shared/crawler/document/charset.ts';
import { sitemapsIn } from '../../shared/task/robots/robots-sitemaps.ts';
import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import { isProblem, readUrl } from '../../shared/task/url/url.ts';
import { bytesOf, rows } from './cases.ts';

interface SitemapCase {
  readonly id: string;
  readonly file: string;
  readonly content_type: string;
  readonly mode: { readonly url_filter?: string };
  readonly expect: 'ok' | 'error' | 'partial';
  readonly is_index?: boolean;
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

/** What the protocol allows for one sitemap, and some. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Rows that name fewer URLs than we take: their parsers leave out what others keep. What we take beyond them, by hand:
 *
 * | row   | also taken                                                                         |
 * |-------|------------------------------------------------------------------------------------|
 * | sm080 | the URL with a broken byte, which the row allows                                   |
 * | sm081 | the URL with a control character, which the URL Standard escapes                  |
 * | sm083 | what came out of a gzip file before it breaks off; the row wants no more than that it ends |
 */
const ALSO_TAKEN: ReadonlySet<string> = new Set(['sm080', 'sm081', 'sm083']);

async function* textOf(bytes: Uint8Array, contentType?: string): AsyncGenerator<string> {
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  }
  yield* decodeStream(unpacked(source(), MAX_BYTES), contentType);
}

async function read(bytes: Uint8Array, contentType: string) {
  const text = textOf(bytes, contentType);
  const document = new SitemapDocument({ source: 'case', text, anyText: false, maxEntries: 1e6, isKnown: () => false });
  const entries: SitemapEntry[] = [];
  const problems: string[] = [];
  for await (const found of document.read()) {
    if (found.kind === 'entries') entries.push(...found.entries);
    else if (found.kind === 'problem') problems.push(found.problem);
  }
  return { entries, problems, result: document.result };
}

/** The URLs that can be crawled, each once, in the form in which they are compared. */
function keysOf(texts: readonly string[]): string[] {
  const keys = texts.map(readUrl).flatMap((url) => (isProblem(url) ? [] : [url.canonical]));
  return [...new Set(keys)].toSorted();
}

// Cases with a URL filter show what their parser lets its user leave out, which ours doesn't offer.
const sitemapCases = rows<SitemapCase>('sitemaps/manifest.jsonl').filter(({ mode }) => mode.url_filter === undefined);
for (const each of sitemapCases) {
  const { id, file, content_type, urls = [], lenient_urls } = each;
  // A document that others refuse for its location, its namespace or its damage has URLs all the same.
  const isError = each.expect === 'error' && lenient_urls === undefined;
  test(`${id}: ${file} as ${content_type} ${isError ? 'is no sitemap' : 'gives its URLs, and no others'}`, async () => {
    const { entries, problems, result } = await read(bytesOf(`sitemaps/${file}`), content_type);
    const wanted = lenient_urls ?? urls.map(({ loc }) => loc);
    const keys = keysOf(entries.map(({ loc }) => loc));
    if (ALSO_TAKEN.has(id)) expect(keys).toEqual(expect.arrayContaining(keysOf(wanted)));
    else expect(keys).toEqual(keysOf(wanted));
    if (isError) expect(result.problem).toBeDefined();
    if (each.is_index === true) expect(entries.every(({ to }) => to === 'sitemap')).toBe(true);
    else expect(entries.every(({ to }) => to === 'page')).toBe(true);
    if (file.includes('truncated') || file.includes('bomb')) expect(problems).toHaveLength(1);
  });
}

test('no bomb takes a second of work, or 100 MB', { retry: 2 }, async () => {
  const bombs = ['billion_laughs.xml', 'quadratic_blowup.xml', 'bomb_80MB.xml.gz', 'deep_nesting.xml'];
  for (const bomb of bombs) {
    const before = { cpu: process.cpuUsage(), rss: process.memoryUsage.rss() };
    await read(bytesOf(`sitemaps/own/${bomb}`), 'application/xml');
    const { user, system } = process.cpuUsage(before.cpu);
    const megabytes = (process.memoryUsage.rss() - before.rss) / 1e6;
    expect({ bomb, isQuick: user + system < 1e6, isSmall: megabytes < 100 }).toEqual({
      bomb,
      isQuick: true,
      isSmall: true,
    });
  }
});

test('no damage to any of these files does more than end it', async () => {
  const files = [...new Set(sitemapCases.map(({ file }) => file))].filter((file) => !file.includes('bomb'));
  const damage = fc.record({
    file: fc.constantFrom(...files),
    changes: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 20 }),
    end: fc.option(fc.nat()),
    contentType: fc.constantFrom('application/xml', 'text/html; charset=utf-16', 'application/gzip', 'x; charset=none'),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ file, changes, end, contentType }) => {
      const bytes = Buffer.from(bytesOf(`sitemaps/${file}`));
      for (const [where, value] of changes) if (bytes.length > 0) bytes[where % bytes.length] = value;
      const { entries } = await read(
        bytes.subarray(0, end === null ? bytes.length : end % (bytes.length + 1)),
        contentType,
      );
      for (const { loc } of entries) expect(loc).not.toBe('');
    }),
    { numRuns: 1_000 },
  );
});

for (const { id, robots = '', robots_b64, base, sitemaps } of rows<RobotsCase>('robots_sitemap_directive.jsonl')) {
  test(`${id}: a robots.txt names its sitemaps`, async () => {
    const bytes = robots_b64 === undefined ? Buffer.from(robots) : Buffer.from(robots_b64, 'base64');
    const text = await Array.fromAsync(textOf(bytes));
    expect(sitemapsIn(text.join(''), base).map(({ href }) => href)).toEqual(sitemaps);
  });
}
