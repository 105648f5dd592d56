import type { Command } from 'commander';
import { lookUp } from './biography.ts';
import { biographyText } from './biography-text.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { readRunId } from './run-id.ts';
import { sayUnknownRun, tell, withStores } from './with-stores.ts';

interface UrlOptions {
  readonly run?: string;
}

/** `trawl url URL`: where it is, every failed attempt, why it waits, and what became of it. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['fleet', 'output'])
      .argument('<url>', 'a URL, or a text that was refused as malformed')
      .option('--run <id>', 'look in this run (default: in the newest runs)')
      .action(async (url: string, options: UrlOptions) => {
        exit(await withContext({ ...options }, { logLevel: 'error' }, (context) => tellOf(url, options, context)));
      });
  },
};

async function tellOf(url: string, options: UrlOptions, context: Context): Promise<number> {
  const run = options.run === undefined ? undefined : readRunId(options.run);
  return await withStores(context, 'trawl url', async (stores) => {
    const biography = await lookUp(url, run, stores, context);
    if (run !== undefined && biography.runs.length === 0) return sayUnknownRun(run);
    tell(context, biography, biographyText(biography));
    return 0;
  });
}
