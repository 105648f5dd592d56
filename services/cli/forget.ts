import type { Command } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import type { Forgettable, Forgotten } from '../../shared/marks.ts';
import { malformedMarkOf, markOf } from '../../shared/task/fingerprint.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { count } from './format.ts';
import { readHost } from './host-name.ts';
import { tell, withStores } from './with-stores.ts';

interface ForgetOptions {
  readonly host?: string;
  readonly all?: boolean;
}

/** `trawl forget URL|--host H|--all`: drops marks, so that the URLs are taken again. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['fleet'])
      .argument('[url]', 'a URL, or a text that was refused as malformed')
      .option('--host <host>', 'all URLs of a host')
      .option('--all', 'all URLs')
      .action(async (url: string | undefined, options: ForgetOptions) => {
        exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => forget(url, options, context)));
      });
  },
};

async function forget(url: string | undefined, { host, all }: ForgetOptions, context: Context): Promise<number> {
  if ([url, host, all].filter((given) => given !== undefined).length !== 1)
    throw new UsageError('name what to forget: trawl forget URL, trawl forget --host HOST, or trawl forget --all');
  const which = meantBy(url, host);
  return await withStores(context, 'trawl forget', async ({ marks }) => {
    const { forgotten, kept } = await marks.forget(which);
    tell(context, { forgotten, kept }, textOf(which, { forgotten, kept }));
    // Of one URL, a mark that stays is all that was asked for.
    return url !== undefined && kept > 0 && forgotten === 0 ? 1 : 0;
  });
}

function meantBy(url: string | undefined, host: string | undefined): Forgettable {
  if (host !== undefined) return { host: readHost(host) };
  if (url === undefined) return 'all';
  const read = readUrl(url);
  return { mark: isProblem(read) ? malformedMarkOf(url) : markOf(read.canonical) };
}

function textOf(which: Forgettable, { forgotten, kept }: Forgotten): string {
  const what = which === 'all' ? '' : 'mark' in which ? ` of ${which.mark}` : ` of ${which.host}`;
  const lines = [`${count(forgotten)} marks${what} forgotten`];
  if (kept > 0)
    lines.push(`${count(kept)} marks${what} stay: their URLs wait or are in flight (trawl url URL, trawl cancel RUN)`);
  return lines.join('\n');
}
