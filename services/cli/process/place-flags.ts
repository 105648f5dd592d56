import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import type { Context } from '../command.ts';

/** Stands for a password in a command that is shown. */
const PASSWORD = 'PASSWORD';

/** The flag by which another command finds the same folder of records, if this one was given it. */
export function folderFlag({ flags }: Pick<Context, 'flags'>): string {
  const { name, flag } = SETTINGS.outputDir;
  return flags[name] === undefined ? '' : ` --${flag} ${quoted(flags[name])}`;
}

/** The command that goes on with a run whose seeds are all read. */
export function resumeRunCommand(run: string, context: Pick<Context, 'flags'>): string {
  return `${TRAWL} crawl --resume ${run}${folderFlag(context)}`;
}

/**
 * The flags by which `trawl records` finds the same records: the folder's, and that of a sink which the environment doesn't name. Who
 * reads it fills in a password.
 *
 * @param sink of the run, which may have been begun with another than this command's
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
