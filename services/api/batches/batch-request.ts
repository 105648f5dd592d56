import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type OfferRules, offerOf, type TaskOffer } from '../../../shared/task/task/offer.ts';
import { taskIdOf } from '../../../shared/task/url/fingerprint.ts';
import { isProblem, readUrl, withoutCredentials } from '../../../shared/task/url/url.ts';
import { CRAWLER_NAME } from '../producers.ts';
import { MOST_URL_LENGTH } from '../schemas/inputs.ts';
import { crawlOptionsSchema } from '../schemas/runs.ts';

const MOST_BATCH_URLS = 1_000;
const MOST_TIMEOUT_SECONDS = 3_600;

/** The body of `POST /api/crawl/batch`. */
export const batchSchema = z.strictObject({
  urls: z
    .array(z.string().max(MOST_URL_LENGTH))
    .min(1)
    .max(MOST_BATCH_URLS, `expected at most ${MOST_BATCH_URLS} URLs: split them, or open a run (POST /api/runs)`),
  distributed: z.boolean().default(false).describe("Crawled by the fleet's workers instead of by the API's process"),
  options: crawlOptionsSchema
    .omit({ dedup: true, limit: true, follow: true, maxDepth: true, lastmodSince: true })
    .extend({ crawler: z.string().regex(CRAWLER_NAME, 'expected the name of a crawler').optional() })
    .default({}),
  timeout: z.number().positive().max(MOST_TIMEOUT_SECONDS).default(300).describe('Seconds'),
});
export type BatchRequest = z.infer<typeof batchSchema>;

/** A URL of a batch, with its task or with the problem that it has none. Several URLs can share a task. */
export type BatchInput = { readonly url: string } & (
  | { readonly offer: TaskOffer; readonly task: string }
  | { readonly problem: string }
);

/** Reads the URLs of a batch, in their order. */
export function readInputs(
  urls: readonly string[],
  run: string,
  { deadlineMs, ...rules }: OfferRules & { readonly deadlineMs: number },
): BatchInput[] {
  return urls.map((text) => {
    const url = readUrl(text);
    if (isProblem(url)) return { url: withoutCredentials(text), problem: url.problem };
    // Overrides the queue of any routing rule: the client is waiting.
    const offer: TaskOffer = { ...offerOf(url, rules), queue: 'priority', deadlineMs };
    return { url: url.href, offer, task: taskIdOf(run, offer.mark) };
  });
}

/** Returns the id of a batch's run. Requests of one caller with the same key get the same run. */
export function batchRunOf(caller: string, key: string | undefined, random: () => string): string {
  const id = key === undefined ? random() : createHash('sha256').update(`${caller}\n${key}`).digest('hex').slice(0, 32);
  return `batch-${id}`;
}
