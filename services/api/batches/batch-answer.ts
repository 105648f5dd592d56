import { z } from 'zod';
import { type ARTICLE_FIELDS, CONTENT_PARTS, type PageRecord } from '../../../shared/ports/record.ts';
import type { BatchInput } from './batch-request.ts';

const STATUSES = ['success', 'failed', 'skipped', 'timeout'] as const;
type BatchStatus = (typeof STATUSES)[number];

const articleSchema = z
  .object({
    title: z.string(),
    byline: z.string(),
    published: z.string().describe('In the format of the page'),
    language: z.string(),
    excerpt: z.string(),
  } satisfies Record<(typeof ARTICLE_FIELDS)[number], z.ZodString>)
  .partial()
  .describe("The page's own metadata of the article in `content`");

/** Answer of the batch routes. Its field names are those of an earlier endpoint, whose clients know them. */
export const batchAnswerSchema = z.object({
  session_id: z.string(),
  results: z.array(
    z.looseObject({
      url: z.string(),
      status: z.enum(STATUSES),
      reason: z.string().optional().describe('Why it failed or was skipped'),
      error: z.string().nullable().optional(),
      content: z.string().nullable(),
      content_of: z
        .enum(CONTENT_PARTS)
        .optional()
        .describe(
          'The part of the page in `content`, if the article was asked for: without an article it is <main>, or the whole page',
        ),
      article: articleSchema.optional(),
      final_url: z.string().optional(),
      http_status: z.int().nullable().optional(),
      title: z.string().nullable().optional(),
      content_type: z.string().nullable().optional(),
      bytes: z.int().optional(),
      data: z.unknown().optional(),
      duration_ms: z.number().optional(),
      truncated: z.array(z.string()).optional().describe('The parts that were cut, as in a record'),
      worker_id: z.string().nullable(),
    }),
  ),
  stats: z
    .object({
      total: z.int(),
      success: z.int(),
      failed: z.int(),
      skipped: z.int(),
      timeout: z.int(),
      workers_used: z.int(),
    })
    .nullable(),
  distributed: z.boolean(),
  state: z.enum(['running', 'finished']),
  warning: z.string().optional(),
});
export type BatchAnswer = z.infer<typeof batchAnswerSchema>;

/** A batch as far as it is known. */
export interface BatchState {
  readonly run: string;
  readonly inputs: readonly BatchInput[];
  readonly records: ReadonlyMap<string, PageRecord>;
  readonly isDistributed: boolean;
  readonly hasEnded: boolean;
  readonly warning?: string | undefined;
}

/** Builds the answer: one result per input, in their order. An input without a record, or past its deadline, is `timeout`. */
export function batchAnswer({ run, inputs, records, isDistributed, hasEnded, warning }: BatchState): BatchAnswer {
  const results = inputs.map((input) => resultOf(input, 'task' in input ? records.get(input.task) : undefined));
  const of = (status: BatchStatus): number => results.filter((result) => result.status === status).length;
  const workers = new Set(results.flatMap(({ worker_id: id }) => id ?? []));
  const stats = {
    total: results.length,
    success: of('success'),
    failed: of('failed'),
    skipped: of('skipped'),
    timeout: of('timeout'),
    workers_used: workers.size,
  };
  return {
    session_id: run,
    results,
    stats: isDistributed ? stats : null,
    distributed: isDistributed,
    state: hasEnded ? 'finished' : 'running',
    ...(warning === undefined ? {} : { warning }),
  };
}

/** Returns the characters that an answer keeps in memory: its request, and each record once, however many inputs share it. */
export function keptLength(request: string, records: BatchState['records']): number {
  let length = request.length;
  for (const record of records.values()) length += JSON.stringify(record).length;
  return length;
}

function resultOf(input: BatchInput, record: PageRecord | undefined): BatchAnswer['results'][number] {
  const nothing = { url: input.url, content: null, worker_id: null };
  if ('problem' in input) return { ...nothing, status: 'failed', reason: 'malformed', error: input.problem };
  if (record === undefined) return { ...nothing, status: 'timeout' };
  const { worker: worker_id } = record;
  if (record.outcome === 'done') {
    const { finalUrl, status, title, contentType, bytes, durationMs, data, truncated, contentOf, article } = record;
    const { content = null } = record;
    const main =
      contentOf === undefined ? {} : { content_of: contentOf, ...(article === undefined ? {} : { article }) };
    const page = { final_url: finalUrl, http_status: status, title, content_type: contentType, bytes, data };
    const cut = truncated === undefined ? {} : { truncated: [...truncated] };
    return { url: input.url, status: 'success', content, ...main, ...page, duration_ms: durationMs, ...cut, worker_id };
  }
  const { outcome, reason, status: http_status = null, error = null } = record;
  const status = reason === 'deadline' ? 'timeout' : outcome;
  return { ...nothing, status, reason, http_status, error, worker_id };
}
