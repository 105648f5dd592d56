import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../../shared/errors.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';

/**
 * What a person hands in.
 *
 * | written as                                              | kind            | is                                          |
 * |---------------------------------------------------------|-----------------|---------------------------------------------|
 * | `-`                                                     | `input`         | a list of URLs on standard input            |
 * | a file of URLs, named as such                           | `list`          | a list of URLs                              |
 * | a local file                                            | `file`          | a sitemap or a list, by its content         |
 * | a URL with path `/` and no query                        | `site`          | its sitemaps                                |
 * | a URL whose path ends in .xml, .gz or .txt, or names a sitemap, feed, rss or atom | `maybe_sitemap` | fetched to find out |
 * | any other URL                                           | `page`          | that page                                   |
 */
export type Seed =
  | { readonly kind: 'input' }
  | { readonly kind: 'list' | 'file'; readonly path: string }
  | { readonly kind: 'site' | 'maybe_sitemap' | 'page'; readonly url: string };

/** Seeds as JSON, to be read again later. */
export const seedsSchema: z.ZodType<Seed[]> = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('input') }),
    z.object({ kind: z.enum(['list', 'file']), path: z.string() }),
    z.object({ kind: z.enum(['site', 'maybe_sitemap', 'page']), url: z.string() }),
  ]),
);

const NAMES_SITEMAP = /\.(?:xml|gz|txt)$|sitemap|(?<![a-z])(?:feeds?|rss|atom)(?![a-z])/i;

/**
 * Reads the seeds of a command line. Nothing is fetched.
 *
 * @throws {UsageError} for the first one that is neither a URL nor a file
 */
export async function readSeeds(texts: readonly string[], urlsFiles: readonly string[] = []): Promise<Seed[]> {
  const seeds: Seed[] = [];
  for (const text of texts) seeds.push(await readSeed(text));
  for (const path of urlsFiles) {
    seeds.push(path === '-' ? { kind: 'input' } : { kind: 'list', path: expectFile(path, await whatIs(path)) });
  }
  return seeds;
}

async function readSeed(text: string): Promise<Seed> {
  if (text === '-') return { kind: 'input' };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readUrlSeed(text);
  const what = await whatIs(text);
  if (what !== 'nothing') return { kind: 'file', path: expectFile(text, what) };
  const meant = readUrl(`https://${text}`);
  throw new UsageError(
    isProblem(meant)
      ? `${JSON.stringify(text)} is neither a URL nor a file`
      : `${text} is no file, and has no scheme: did you mean ${meant.href}`,
  );
}

function readUrlSeed(text: string): Seed {
  const url = readUrl(text);
  if (isProblem(url)) throw new UsageError(`${text} can't be crawled: ${url.problem}`);
  const { pathname, search } = new URL(url.href);
  if (pathname === '/' && search === '') return { kind: 'site', url: url.href };
  return { kind: NAMES_SITEMAP.test(pathname) ? 'maybe_sitemap' : 'page', url: url.href };
}

async function whatIs(path: string): Promise<'file' | 'folder' | 'nothing'> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return 'nothing';
  return stats.isDirectory() ? 'folder' : 'file';
}

function expectFile(path: string, what: 'file' | 'folder' | 'nothing'): string {
  if (what === 'nothing') throw new UsageError(`${path} doesn't exist`);
  if (what === 'folder') throw new UsageError(`${path} is a folder, not a file`);
  return path;
}
