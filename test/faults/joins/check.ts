import { join } from 'node:path';
import { expect } from 'vitest';
import { JsonlSource } from '../../../shared/sinks/jsonl/source.ts';
import { type Crawl, type Joined, type Made, RUN } from '../harness/crawl.ts';

/**
 * The records of all pages and joins of a run, in a stable order, without the worker and the time. URLs of the crawl's own site are replaced
 * by their paths, so that the records of two sites can be compared.
 */
export async function recordsOf({ workplace, site }: Pick<Crawl, 'workplace' | 'site'>, run: string): Promise<Made[]> {
  const records: string[] = [];
  for await (const record of new JsonlSource(join(workplace.folder, 'output')).read(run)) {
    const { step, url, outcome } = record;
    const made =
      record.outcome === 'done' ? { data: record.data, hash: record.contentHash } : { reason: record.reason };
    records.push(JSON.stringify({ step, url, outcome, ...made }).replaceAll(site.origin, ''));
  }
  return records.toSorted().map((text) => JSON.parse(text));
}

/** Checks that each join was made as often as expected, the records equal those of an undisturbed run, and nothing is left of groups. */
export async function checkJoins(crawl: Crawl, { made, records }: Joined): Promise<void> {
  expect(await recordsOf(crawl, RUN), 'records, as of a run that nothing disturbed').toEqual(records);
  const { steps = {}, openGroups = 0 } = (await crawl.progress()) ?? {};
  const counts = Object.keys(made).map((join) => [join, [steps[join]?.discovered, steps[join]?.done]]);
  expect(Object.fromEntries(counts), 'how often each join was made, and done').toEqual(
    Object.fromEntries(Object.entries(made).map(([join, times]) => [join, [times, times]])),
  );
  expect(openGroups, 'open groups').toBe(0);
  expect(await crawl.redis.keys(`${crawl.prefix}run:${RUN}:group:*`), 'what is left of groups').toEqual([]);
}
