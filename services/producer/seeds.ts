import { createReadStream, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../../shared/runtime/errors.ts';
import { quoted } from '../../shared/runtime/started-as.ts';
import { SitemapParser } from '../../shared/task/sitemap/sitemap.ts';
import { type Logins, loginsField, withLogin } from '../../shared/task/url/logins.ts';
import { hostKeyOf, isProblem, readUrl, withoutCredentials } from '../../shared/task/url/url.ts';
import { NO_URL_COLUMN } from '../../shared/task/url/url-table.ts';
import { UrlLines } from '../../shared/task/url/urls-file.ts';

/**
 * An input that a person gives Trawl to crawl.
 *
 * | written as                                              | kind            | is                                          |
 * |---------------------------------------------------------|-----------------|---------------------------------------------|
 * | `-`                                                     | `input`         | a list of URLs on standard input            |
 * | a file given as a list of URLs                          | `list`          | a list of URLs                              |
 * | a local file                                            | `file`          | a sitemap or a list, by its content         |
 * | a URL with path `/` and no query                        | `site`          | its sitemaps                                |
 * | a URL with path `/robots.txt` and no query              | `robots`        | the sitemaps of that site, without its page |
 * | a URL whose path ends in .xml, .gz or .txt, or names a sitemap, feed, rss or atom | `maybe_sitemap` | fetched to find out |
 * | a URL whose query is `?feed=rss2`, `?sitemap=index`, `?route=feed/google_sitemap` or the like | `maybe_sitemap` | fetched to find out |
 * | any other URL                                           | `page`          | that page                                   |
 */
export type Seed =
  | { readonly kind: 'input' }
  | { readonly kind: 'list' | 'file'; readonly path: string }
  | { readonly kind: 'site' | 'robots' | 'maybe_sitemap' | 'page'; readonly url: string; readonly logins?: Logins };

/** The schema of seeds stored as JSON. */
export const seedsSchema: z.ZodType<Seed[]> = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('input') }),
    z.object({ kind: z.enum(['list', 'file']), path: z.string() }),
    z.object({
      kind: z.enum(['site', 'robots', 'maybe_sitemap', 'page']),
      url: z.string(),
      logins: z.record(z.string(), z.string()).exactOptional(),
    }),
  ]),
);

/** Bytes at the beginning of a file that decide whether it is a table. */
const HEAD_BYTES = 16_384;
/** File descriptor of standard input. */
export const STANDARD_INPUT = 0;
const NAMES_SITEMAP = /\.(?:xml|gz|txt)$|sitemap|(?<![a-z])(?:feeds?|rss|atom)(?![a-z])/i;
/** Endings of lists and sitemaps, none of which is a top-level domain. */
const NAMES_LIST = /\.(?:txt|xml|gz|csv|tsv|json|jsonl)$/i;
/** `https//`, `https:/`, `https:` and `https;//`, in the place of `https://`. */
const BROKEN_SCHEME = /^(https?)(?::\/?|;\/\/|\/\/)(?=[^/])/i;
/** Endings of a crawler's file. */
const PROGRAM = /\.[cm]?[jt]s$/i;
/** What could be the name of a crawler. */
const NAME = /^[a-z0-9][a-z0-9-]*$/;
const ASKS_FOR_SITEMAP = /[?&](?:sitemap|feed|rss|atom)=|sitemap(?:&|$)/i;

/**
 * Reads the seeds of a command line. Fetches nothing.
 *
 * @throws {UsageError} for the first one that is neither a URL nor a file, or is a table without a column of URLs
 */
export async function readSeeds(texts: readonly string[], urlsFiles: readonly string[] = []): Promise<Seed[]> {
  const seeds: Seed[] = [];
  for (const text of texts) seeds.push(await readSeed(text));
  for (const path of urlsFiles) {
    seeds.push(path === '-' ? readInput() : await readFileSeed('list', path, await whatIs(path)));
  }
  return seeds;
}

/** Separates pages, which need no reading, from the other seeds. Pages with credentials stay with the others, which keep their credentials. */
export function withoutPages(seeds: readonly Seed[]): {
  readonly pages: readonly string[];
  readonly others: readonly Seed[];
} {
  const pages: string[] = [];
  const others = seeds.filter((seed) => {
    const isPage = seed.kind === 'page' && seed.logins === undefined;
    if (isPage) pages.push(seed.url);
    return !isPage;
  });
  return { pages, others };
}

/** Groups seeds by host. Those read from this machine form one group; each group keeps the order of the seeds. */
export function seedsByHost(seeds: readonly Seed[]): readonly (readonly Seed[])[] {
  return [...Map.groupBy(seeds, (seed) => ('url' in seed ? hostKeyOf(new URL(seed.url)) : '')).values()];
}

async function readSeed(text: string): Promise<Seed> {
  if (text === '-') return readInput();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readUrlSeed(text);
  const what = await whatIs(text);
  if (what === 'file' && PROGRAM.test(text))
    throw new UsageError(`${text} is a program, not a list of URLs: a crawler is given with --crawler ${quoted(text)}`);
  if (what === 'folder' && NAME.test(text))
    throw new UsageError(`${text} is a folder, not a file (a crawler is given with --crawler ${text})`);
  if (what !== 'nothing') return await readFileSeed('file', text, what);
  // Nobody writes a host like this.
  if (/^\.{0,2}\//.test(text)) throw new UsageError(`${text} doesn't exist`);
  if (namesNoHost(text)) {
    const meant = NAME.test(text) || PROGRAM.test(text) ? ` (a crawler is given with --crawler ${text})` : '';
    throw new UsageError(`${text} doesn't exist, and a URL begins with https:// or http://${meant}`);
  }
  const [mark = '', scheme = 'https'] = BROKEN_SCHEME.exec(text) ?? [];
  const address = text.slice(mark.length);
  const meant = readUrl(`${scheme}://${address}`);
  const shown = mark + withoutCredentials(`https://${address}`).slice('https://'.length);
  if (isProblem(meant)) throw new UsageError(`${JSON.stringify(shown)} is neither a URL nor a file`);
  const lack = mark === '' ? 'has no scheme' : 'lacks "://"';
  throw new UsageError(`${shown} is not a file, and ${lack}: did you mean ${meant.href}`);
}

/** Returns whether a text without a scheme looks like a file or a word rather than a host. */
function namesNoHost(text: string): boolean {
  const [host = '', ...path] = text.split('/');
  if (host === '' || host === 'localhost' || /[^\p{L}\p{N}_.-]/u.test(host) || BROKEN_SCHEME.test(text)) return false;
  return !host.includes('.') || (path.length === 0 && (NAMES_LIST.test(host) || PROGRAM.test(host)));
}

/**
 * Reads the seed of a file. A table that doesn't say where its URLs are is refused before anything begins; one that is packed or comes from
 * a pipe, only when it is read.
 */
async function readFileSeed(kind: 'list' | 'file', path: string, what: FileKind): Promise<Seed> {
  expectFile(path, what);
  // Bytes read from a pipe would be gone.
  if (what === 'pipe') return { kind, path };
  const parser = kind === 'list' ? new UrlLines() : new SitemapParser({ anyText: true });
  const head = createReadStream(path, { end: HEAD_BYTES, encoding: 'utf8' });
  try {
    for await (const text of head) parser.write(text);
    parser.end();
  } catch {
    // The reader of the whole file will report the reason.
  }
  if (parser.isTable) throw new UsageError(`${path} ${NO_URL_COLUMN}`);
  return { kind, path };
}

function readInput(): Seed {
  if (fstatSync(STANDARD_INPUT).isDirectory()) throw new UsageError('standard input is a folder, not a list of URLs');
  return { kind: 'input' };
}

function readUrlSeed(text: string): Seed {
  const url = readUrl(text);
  if (isProblem(url)) throw new UsageError(`${withoutCredentials(text)} can't be crawled: ${url.problem}`);
  const { pathname, search } = new URL(url.href);
  const own = { url: url.href, ...loginsField(withLogin(undefined, url.href, url.login)) };
  if (pathname === '/' && search === '') return { kind: 'site', ...own };
  if (pathname === '/robots.txt' && search === '') return { kind: 'robots', ...own };
  return { kind: namesSitemap(pathname + search) ? 'maybe_sitemap' : 'page', ...own };
}

/** Returns whether a path and query, possibly those of a pattern, name a sitemap, a feed or a list. */
export function namesSitemap(path: string): boolean {
  const [pathname = '', ...search] = path.split('?');
  return NAMES_SITEMAP.test(pathname) || ASKS_FOR_SITEMAP.test(`?${search.join('?')}`);
}

/** A path's kind; `pipe` includes devices and sockets. */
type FileKind = 'file' | 'pipe' | 'folder' | 'nothing';

async function whatIs(path: string): Promise<FileKind> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return 'nothing';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'pipe';
}

function expectFile(path: string, what: FileKind): void {
  if (what === 'nothing') throw new UsageError(`${path} doesn't exist`);
  if (what === 'folder') throw new UsageError(`${path} is a folder, not a file`);
}
