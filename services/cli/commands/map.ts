import type { Command } from 'commander';
import { count, counted } from '../../../shared/control/format.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import type { SettingKey } from '../../../shared/settings/table.ts';
import { readSeeds } from '../../producer/seeds.ts';
import { addCommonOptions, type CommandModule, type Context, repeated, withContext } from '../command.ts';
import { UrlMap } from '../process/url-map.ts';
import { openLineOutput } from '../text/line-output.ts';
import { jsonLine, sayFailure } from '../text/output.ts';
import { openAsking } from '../trial/fetch-once.ts';

interface MapCommandOptions {
  readonly urlsFile?: string[];
  readonly limit?: string;
}

const DEFAULT_LIMIT = 100_000;
/** All URLs are remembered, in some hundred bytes each. */
const MAX_LIMIT = 1_000_000;
/** Settings that concern what becomes of pages, of which a map fetches none but the seeds. */
const WITHOUT: ReadonlySet<SettingKey> = new Set([
  ...(['follow', 'maxDepth', 'maxPages', 'maxHostsPerDomain', 'incremental', 'recrawlAfter'] as const),
  ...(['crawler', 'content', 'maxAttempts'] as const),
]);

/** `trawl map SEED…`: prints the URLs that sitemaps and the page of a site name. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch'], {}, WITHOUT)
      .argument('<seeds...>', 'sites, sitemaps, pages, files of URLs, or - for a list on standard input')
      .option('--urls-file <file>', 'a file of URLs, one per line (can be repeated)', repeated)
      .option('--limit <n>', `print at most n URLs, up to a million [${DEFAULT_LIMIT}]`)
      .action(async (texts: string[], options: MapCommandOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => map(texts, options, context)));
      });
  },
};

async function map(texts: readonly string[], options: MapCommandOptions, context: Context): Promise<number> {
  const { json, log, signal = new AbortController().signal } = context;
  const limit = readMapLimit(options.limit);
  const seeds = await readSeeds(texts, options.urlsFile);
  const output = await openLineOutput();
  const asking = await openAsking(context);
  try {
    const urls = await UrlMap.open({ ...context, limit, signal }, asking);
    for await (const found of urls.read(seeds)) {
      await output.write(found.map((each) => (json ? jsonLine(each) : `${each.url}\n`)).join(''));
      if (output.isOver) break;
    }
    if (urls.malformed > 0)
      log.warn({ what: counted(urls.malformed, 'location') }, 'left out, since they are not URLs:');
    if (urls.isFull) log.warn({}, `stopped after ${count(limit)} URLs (--limit); there may be more`);
    if (urls.size > 0 || output.isOver) return 0;
    sayFailure('no URLs found');
    return 1;
  } finally {
    await asking.close();
  }
}

/** @throws UsageError if it isn't a whole number from 1 to a million */
function readMapLimit(given = String(DEFAULT_LIMIT)): number {
  const limit = /^\d{1,7}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new UsageError(`expected --limit to be a number of URLs, from 1 to ${count(MAX_LIMIT)}, got "${given}"`);
}
