import type { Readable } from 'node:stream';
import { duration } from '../../shared/control/format.ts';
import type { Fetcher } from '../../shared/ports/fetcher.ts';
import type { HostGate } from '../../shared/ports/host-gate.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { DAY_MS } from '../../shared/task/durations.ts';
import { DocumentFetcher } from './documents/document-fetcher.ts';
import { SeedReader } from './seed-reader.ts';
import { SitemapReader } from './sitemaps/sitemap-reader.ts';

/** Default maximum of bytes of one sitemap, unpacked. */
const DEFAULT_MAX_SITEMAP_BYTES = 2 ** 30;

export interface SeedReadingOptions {
  readonly fetcher: Fetcher;
  readonly hostGate: HostGate;
  readonly clock: Clock;
  /** The input behind the seed `-`. */
  readonly input: Readable;
  /** The options of the run for which seeds are read. */
  readonly run: Pick<RunOptions, 'intervalMs' | 'follow' | 'include' | 'exclude'>;
  /** Whether robots.txt sets the pace of its host. */
  readonly obeysRobots: boolean;
  /** Maximum open requests to one host; 0 means no limit. */
  readonly hostConcurrency: number;
  /** The reader's name at the gate. */
  readonly holder: string;
  /** Maximum redirects followed for one document. Default: 10. */
  readonly maxRedirects?: number | undefined;
  /** Maximum bytes of one sitemap, unpacked. Default: 1 GiB. */
  readonly maxSitemapBytes?: number | undefined;
  /** Sitemap entries last changed before this are left out; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Returns whether no more URLs are taken, so that no further sitemap is fetched. */
  readonly isEnough: () => boolean;
  readonly hint: (hint: string) => void;
  /** Returns a number in [0, 1), for the delay before a retry. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What reads the seeds of one run. */
export interface SeedReading {
  /** Reads the sitemaps of all seeds, each once. */
  readonly sitemaps: SitemapReader;
  /** Makes a reader. A reader reads one seed at a time; several of them can read at once. */
  readonly reader: () => SeedReader;
}

/** Opens what reads seeds: at the pace of the gate, and each sitemap once. */
export function openSeedReading(options: SeedReadingOptions): SeedReading {
  const { hostGate, run, input, obeysRobots, hostConcurrency, since, isEnough, hint, signal } = options;
  const { maxSitemapBytes = DEFAULT_MAX_SITEMAP_BYTES } = options;
  const documents = new DocumentFetcher({
    ...options,
    limit: { intervalMs: run.intervalMs, concurrency: hostConcurrency },
    onLongWait: (href, ms) =>
      hint(`${href} is read in ${duration(ms)} or later: its host must not be asked before then (status says why)`),
  });
  const sitemaps = new SitemapReader({ documents, maxSitemapBytes, since, patterns: run, isEnough, signal });
  const slow = (host: string, ms: number): Promise<void> => hostGate.slow(host, ms, DAY_MS);
  const parts = { documents, sitemaps, input, follow: run.follow, slow: obeysRobots ? slow : undefined, signal };
  return { sitemaps, reader: () => new SeedReader(parts) };
}
