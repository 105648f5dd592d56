import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import type { Context } from '../command.ts';

/** Placeholder for a password in a command that is shown. */
const PASSWORD = 'PASSWORD';

/** The flag for the folder of records, for another command to find the same folder. Empty if this command was not given the flag. */
export function folderFlag({ flags }: Pick<Context, 'flags'>): string {
  const { name, flag } = SETTINGS.outputDir;
  return flags[name] === undefined ? '' : ` --${flag} ${quoted(flags[name])}`;
}

/** The command that resumes a run whose seeds have all been read. */
export function resumeRunCommand(run: string, context: Pick<Context, 'flags'>): string {
  return `${TRAWL} crawl --resume ${run}${folderFlag(context)}`;
}

/**
 * The flags that `trawl records` needs to find the same records: for the folder, and for a sink that the environment doesn't name. A
 * password is replaced by a placeholder for the user to fill in.
 *
 * @param sink the run's sink, which may differ from this command's setting
 */
export function recordsFlags({ flags, settings }: Pick<Context, 'flags' | 'settings'>, sink = settings.sink): string {
  const { name, flag, default: files } = SETTINGS.sink;
  const isNamed = flags[name] === undefined && sink === settings.sink;
  return folderFlag({ flags }) + (isNamed ? '' : ` --${flag} ${quoted(withoutPassword(sink ?? files))}`);
}

function withoutPassword(sink: string): string {
  const url = URL.parse(sink);
  if (url === null) return sink;
  if (url.password !== '') url.password = PASSWORD;
  if (url.searchParams.has('password')) url.searchParams.set('password', PASSWORD);
  return url.href;
}
