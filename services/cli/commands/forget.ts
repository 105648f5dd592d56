import type { Command } from 'commander';
import { count, counted } from '../../../shared/control/format.ts';
import { MOST_RUNS_OF_URL, marksOfUrl } from '../../../shared/control/url-marks.ts';
import type { Forgettable, Forgotten } from '../../../shared/ports/marks.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { readHost } from '../process/host-name.ts';
import { addLocalOption, tell, withStores } from '../process/with-stores.ts';

interface ForgetOptions {
  readonly host?: string;
  readonly all?: boolean;
  readonly local?: boolean;
}

/** `trawl forget URL|--host H|--all`: drops marks, so that the URLs are taken again. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']))
      .argument('[url]', 'a URL, or a text that was refused as malformed')
      .option('--host <host>', 'all URLs of a host')
      .option('--all', 'all URLs')
      .action(async (url: string | undefined, options: ForgetOptions) => {
        exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => forget(url, options, context)));
      });
  },
};

async function forget(url: string | undefined, { host, all, local }: ForgetOptions, context: Context): Promise<number> {
  if ([url, host, all].filter((given) => given !== undefined).length !== 1)
    throw new UsageError(
      `name what to forget: ${TRAWL} forget URL, ${TRAWL} forget --host HOST, or ${TRAWL} forget --all`,
    );
  const meant = host === undefined ? undefined : { host: readHost(host) };
  return await withStores(context, 'trawl forget', { local }, async ({ marks, runs }) => {
    // A URL has another mark in a run that compares URLs by rules of its own. That of an older run is forgotten with `--host`.
    const of = url === undefined ? undefined : await marksOfUrl(url, await runs.list(MOST_RUNS_OF_URL), runs);
    const all: readonly Forgettable[] = of === undefined ? [meant ?? 'all'] : of.all.map((mark) => ({ mark }));
    let [forgotten, kept, letters] = [0, 0, 0];
    for (const which of all) {
      const done = await marks.forget(which);
      forgotten += done.forgotten;
      kept += done.kept;
      letters += done.letters ?? 0;
    }
    const total = { forgotten, kept, ...(letters === 0 ? {} : { letters }) };
    tell(context, total, linesOf(of?.plain ?? meant?.host, total));
    // Of one URL, a mark that stays is all that was asked for.
    return url !== undefined && kept > 0 && forgotten === 0 ? 1 : 0;
  });
}

function linesOf(meant: string | undefined, { forgotten, kept, letters = 0 }: Forgotten): string[] {
  const what = meant === undefined ? '' : ` of ${meant}`;
  const lines = [`${counted(forgotten, 'mark')}${what} forgotten`];
  if (letters > 0) lines.push(`${counted(letters, 'dead letter')}${what} deleted`);
  if (kept > 0)
    lines.push(
      `${count(kept)} marks${what} stay: their URLs wait or are in flight (${TRAWL} url URL, ${TRAWL} cancel RUN)`,
    );
  return lines;
}
