import type { Command } from 'commander';
import type { SettingGroup } from '../../../../shared/settings/setting.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../../command.ts';
import { addLocalOption } from '../../process/with-stores.ts';
import { addFilterOptions, type FilterOptions, type LocalChoice, type ReplayOptions } from './filter.ts';
import { exportLetters, listLetters, showLetter } from './letters.ts';
import { type PurgeOptions, purgeLetters } from './purge.ts';
import { replayLetters } from './replay.ts';

/** `trawl dlq list|show|replay|export|purge`: handles dead letters. Only `replay` and `purge` take any out of the queue. */
export const command: CommandModule = {
  define(command: Command, exit) {
    const define = (name: string, description: string, groups: readonly SettingGroup[] = []): Command =>
      addLocalOption(addCommonOptions(command.command(name).description(description), ['fleet', 'output', ...groups]));
    const run = async (
      options: object,
      action: (context: Context) => Promise<number>,
      stopsInOrder = false,
    ): Promise<void> => exit(await withContext(options, { logLevel: 'warn', stopsInOrder }, action));
    const DRY_RUN = 'only show what would happen';

    addFilterOptions(define('list', 'list dead letters, oldest first; they stay in the queue'), '100').action(
      (options: FilterOptions) => run(options, (context) => listLetters(options, context)),
    );
    define('show', 'show one dead letter in full')
      .argument('<letter>', 'its task id, as dlq list shows it, or its URL')
      .action((wanted: string, options: LocalChoice) =>
        run(options, (context) => showLetter(wanted, options, context)),
      );
    addFilterOptions(
      define(
        'replay',
        'offer dead letters again: in a new run with the options of the old one, or, for a local crawl, in that crawl',
        ['run'],
      ),
    )
      .option('--dry-run', DRY_RUN)
      .action((options: ReplayOptions) => run(options, (context) => replayLetters(options, context), true));
    addFilterOptions(
      define('export', 'print dead letters in full, one line of JSON each; they stay in the queue'),
    ).action((options: FilterOptions) => run(options, (context) => exportLetters(options, context)));
    addFilterOptions(define('purge', 'delete dead letters'))
      .option('--all', 'all of them, without a filter')
      .option('--dry-run', DRY_RUN)
      .action((options: PurgeOptions) => run(options, (context) => purgeLetters(options, context)));
  },
};
