import type { Command } from 'commander';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { addLocalOption, tell, withStores } from '../process/with-stores.ts';
import { taskLines, workerLines } from '../text/worker-lines.ts';

interface WorkersOptions {
  readonly local?: boolean;
}

/** `trawl workers`: lists the live workers, what limits each, and the tasks they have in hand. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addLocalOption(addCommonOptions(command, ['fleet', 'output']), { takesRun: false }).action(
      async (options: WorkersOptions) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => list(options, context)));
      },
    );
  },
};

async function list({ local }: WorkersOptions, context: Context): Promise<number> {
  return await withStores(context, 'trawl workers', { local }, async ({ roster }) => {
    const workers = await roster.workers();
    tell(context, { workers }, [...workerLines(workers), ...taskLines(workers)]);
    return 0;
  });
}
