import { type Column, columnsOfItems } from '../../../shared/control/table/columns.ts';
import { fieldsOfItems } from '../../../shared/crawler/item-fields.ts';
import { loadCrawler } from '../../../shared/crawler/load.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import type { Settings } from '../../../shared/settings/table.ts';

/** A step whose items are to be rows. */
interface StepOfRecords {
  readonly name: string;
  /** As its records name it. */
  readonly crawler: unknown;
}

/**
 * The columns of a step's items, by its schema; nothing if it has none, or if its crawler isn't on this machine.
 *
 * @param options the run's, if it is a crawl of this machine. Of any other, files that records name are not loaded: whoever writes
 *   to the fleet's store would choose what runs here.
 */
export async function columnsOfStep(
  { name, crawler: named }: StepOfRecords,
  options: RunOptions | undefined,
  { crawlersDir: folder }: Settings,
): Promise<readonly Column[] | undefined> {
  const crawler = options?.crawler ?? String(named);
  const loaded = await loadCrawler(crawler, { folder, takesPaths: options !== undefined }).catch(() => undefined);
  const record = loaded?.stepNamed(name)?.record;
  const fields = record === undefined ? undefined : fieldsOfItems(record);
  return fields === undefined ? undefined : columnsOfItems(fields);
}
