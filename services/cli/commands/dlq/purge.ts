import { counted } from '../../../../shared/control/format.ts';
import { purgeLetters as purge, purgedJson } from '../../../../shared/control/letters/letter-list.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';
import type { Context } from '../../command.ts';
import { withLetters } from '../../process/with-archives.ts';
import { tell } from '../../process/with-stores.ts';
import { type FilterOptions, readFilter, readLimit, whoseLetters } from './filter.ts';

export interface PurgeOptions extends FilterOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

/** `trawl dlq purge`: deletes the selected letters and no others. */
export async function purgeLetters(options: PurgeOptions, context: Context): Promise<number> {
  const { reason, host, run, all = false, dryRun = false } = options;
  if (reason === undefined && host === undefined && run === undefined && !all)
    throw new UsageError('select the letters to delete with --reason, --host or --run, or give --all');
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const purged = await withLetters(context, whoseLetters(options), (letters) =>
    purge(letters, { filter, limit, isDry: dryRun }),
  );
  const text = dryRun
    ? `${counted(purged, 'dead letter')} would be deleted; nothing was changed`
    : `${counted(purged, 'dead letter')} deleted`;
  tell(context, purgedJson(purged, dryRun), [text]);
  return 0;
}
