import { argLines } from './args.ts';
import type { LoadedCrawler } from './loading/load.ts';

interface CrawlerJson {
  readonly name: string;
  readonly version: string;
  readonly steps: string[];
  readonly args: string[];
  readonly strictVersion: boolean;
  readonly file: string;
}

/** Describes a crawler as `trawl crawlers` prints it. */
export function crawlerJson({ crawler, version, file }: LoadedCrawler): CrawlerJson {
  const steps = crawler.steps.map(({ name }) => name);
  return { name: crawler.name, version, steps, args: argLines(crawler), strictVersion: crawler.isStrict, file };
}
