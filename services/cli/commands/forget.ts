import type { Command } from 'commander';
import { counted } from '../../../shared/control/format.ts';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { type ForgottenMarks, forgetMarks } from '../../../shared/control/steering/forgetting.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { addLocalOption, tell, withStores } from '../process/with-stores.ts';
import { withTally } from '../text/tally-line.ts';

interface ForgetOptions {
  readonly host?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly local?: boolean;
}

/** `trawl forget URL|--host H|--all`: drops marks, so that the URLs can be taken again. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']), { takesRun: false })
      .argument('[url]', 'a URL, or a text that was refused as malformed')
      .option('--host <host>', 'all URLs of a host')
      .option('--all', 'all URLs')
      .option('--dry-run', 'count them, and change nothing')
      .action(async (url: string | undefined, options: ForgetOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => forget(url, options, context)));
      });
  },
};

async function forget(
  url: string | undefined,
  { host, all, dryRun: isDry = false, local }: ForgetOptions,
  context: Context,
): Promise<number> {
  if ([url, host, all].filter((given) => given !== undefined).length !== 1)
    throw new UsageError(
      `name what to forget: ${TRAWL} forget URL, ${TRAWL} forget --host HOST, or ${TRAWL} forget --all`,
    );
  const what = url !== undefined ? { url } : host !== undefined ? { host: readHost(host) } : 'all';
  return await withStores(context, 'trawl forget', { local }, async (stores) => {
    const { total, meant } = await withTally(context, { what: 'marks checked' }, (tally) =>
      forgetMarks(what, stores, { isDry, onMarks: (more) => tally.add(more) }),
    );
    tell(context, total, linesOf(meant, total));
    // If the only mark asked for stays, the command has failed.
    return url !== undefined && total.kept > 0 && total.forgotten === 0 ? 1 : 0;
  });
}

function linesOf(
  meant: string | undefined,
  { forgotten, kept, letters = 0, dryRun }: ForgottenMarks['total'],
): string[] {
  const what = meant === undefined ? '' : ` of ${meant}`;
  const would = dryRun === true ? 'would be ' : '';
  const lines = [`${counted(forgotten, 'mark')}${what} ${would}forgotten`];
  if (letters > 0) lines.push(`${counted(letters, 'dead letter')}${what} ${would}deleted`);
  if (kept > 0)
    lines.push(
      `${counted(kept, `mark${what} stays: its URL waits or is`, `marks${what} stay: their URLs wait or are`)} in flight (${TRAWL} url URL, ${TRAWL} cancel RUN)`,
    );
  if (dryRun === true) lines.push('Nothing was changed.');
  return lines;
}
