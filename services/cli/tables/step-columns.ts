import { type Column, columnsOfItems } from '../../../shared/control/table/columns.ts';
import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import { fieldsOfItems } from '../../../shared/crawler/items/item-fields.ts';
import { findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { isPath } from '../../../shared/crawler/loading/crawler-files.ts';
import type { Settings } from '../../../shared/settings/table.ts';

/** A step whose items become rows. */
interface StepOfRecords {
  readonly name: string;
  /** The crawler, as the step's records name it. */
  readonly crawler: unknown;
}

/**
 * Returns the columns of a step's items, by its schema; undefined if it has none, or if its crawler isn't on this machine.
 *
 * @param crawler the name or file that a crawl of this machine was begun with. For any other run, a file named in records is not loaded:
 *   otherwise anyone who can write to the fleet's store could choose what runs here.
 */
export async function columnsOfStep(
  { name, crawler: named }: StepOfRecords,
  crawler: string | undefined,
  { crawlersDir }: Settings,
): Promise<readonly Column[] | undefined> {
  if (name === FILE_STEP.name) return columnsOfItems(fieldsOfItems(FILE_STEP.record) ?? []);
  const wanted = crawler ?? String(named);
  if (crawler === undefined && isPath(wanted)) return undefined;
  const loaded = await findCrawler(wanted, crawlersDir).catch(() => undefined);
  const record = (loaded?.crawler.stepNamed(name) ?? loaded?.crawler.join(name))?.record;
  const fields = record === undefined ? undefined : fieldsOfItems(record);
  return fields === undefined ? undefined : columnsOfItems(fields);
}
