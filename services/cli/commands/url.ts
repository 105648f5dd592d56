import type { Command } from 'commander';
import { hasLocalRuns } from '../../../shared/backends/embedded.ts';
import { listLetters, MOST_LOOKED_AT } from '../../../shared/control/letters/letter-list.ts';
import { readRunId } from '../../../shared/control/run-id.ts';
import { lookUp } from '../../../shared/control/urls/biography.ts';
import type { DeadLetters } from '../../../shared/ports/transport.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { withFleetLetters, withRecords } from '../process/with-archives.ts';
import { addLocalOption, isLocalOf, sayUnknownRun, tell, withStores } from '../process/with-stores.ts';
import { biographyLines } from '../text/biography.ts';

const NAME = 'trawl url';

interface UrlOptions {
  readonly run?: string;
  readonly local?: boolean;
}

/** `trawl url URL`: shows where a URL is and why it waits, its failed attempts, and its outcome. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']))
      .argument('<url>', 'a URL, or a text that was refused as malformed')
      .option('--run <id>', 'look in this run (default: in all runs)')
      .action(async (url: string, options: UrlOptions) => {
        exit(await withContext(options, { logLevel: 'error' }, (context) => tellOf(url, options, context)));
      });
  },
};

async function tellOf(url: string, options: UrlOptions, context: Context): Promise<number> {
  const { local } = options;
  const run = options.run === undefined ? undefined : readRunId(options.run);
  return await withStores(context, NAME, { local, run }, async (stores) => {
    const biography = await lookUp(url, run, {
      stores,
      records: (action) => withRecords({ ...context, name: NAME }, action),
      letters: async (isMeant) => {
        const list = (letters: Pick<DeadLetters, 'sift'>) => listLetters(letters, { isMeant, limit: MOST_LOOKED_AT });
        const { found } = await (stores.letters === undefined
          ? withFleetLetters({ ...context, name: NAME, attempts: 1 }, list)
          : list(stores.letters));
        return found;
      },
    });
    if (run !== undefined && biography.runs.length === 0) return sayUnknownRun(run, local);
    const isLocal = isLocalOf(stores);
    const hasOthers = !isLocal && local === undefined && hasLocalRuns(context.settings);
    tell(context, biography, biographyLines(biography, { isLocal, hasOthers }));
    return 0;
  });
}
