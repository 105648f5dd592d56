import { z } from 'zod';
import { CRAWLER_NAME } from '../producers.ts';
import { MOST_DEPTH, OPTION_SETTINGS } from '../run-request.ts';
import { leftOutSchema } from './answers.ts';
import { MOST_URL_LENGTH, runIdSchema } from './inputs.ts';

/** Maximum characters of an option or argument. */
const LONGEST_TEXT = 2_000;
const LARGEST_LIMIT = 1_000_000_000;
const MOST_SEEDS = 10_000;

const optionValue = z.union([
  z.string().max(LONGEST_TEXT),
  z.number(),
  z.boolean(),
  z.array(z.string().max(500)).max(100),
]);
const options = Object.fromEntries(OPTION_SETTINGS.map((key) => [key, optionValue.optional()])) as Record<
  Exclude<(typeof OPTION_SETTINGS)[number], 'maxDepth'>,
  z.ZodOptional<typeof optionValue>
>;

/** Options of a crawl over HTTP, by the names of settings. None names a file or folder or allows private addresses. */
export const crawlOptionsSchema = z
  .strictObject({
    ...options,
    maxDepth: z.int().min(0).max(MOST_DEPTH).optional(),
    dedup: z.enum(['ever', 'run']).optional(),
    robots: z.literal('ignore').optional().describe('Needs the role admin. Defaults to the setting of the workers'),
    limit: z.int().min(1).max(LARGEST_LIMIT).optional(),
  })
  .describe('Settings of the run, named as in the command line: rate, follow, maxPages …');

/** A seed, always a URL: files and standard input belong to the API's machine, and requests can't name them. */
const seed = z
  .string()
  .max(MOST_URL_LENGTH)
  .regex(/^https?:\/\/[^\s]+$/i, 'expected a URL that begins with http:// or https://');

const webhookSchema = z.strictObject({
  url: z
    .string()
    .max(MOST_URL_LENGTH)
    .regex(/^https?:\/\//i, 'expected a URL that begins with http:// or https://'),
  secret: z
    .string()
    .max(200)
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'expected whsec_ and 24 bytes or more as base64')
    .describe('whsec_ and the key as base64 (Standard Webhooks)'),
});

export const runRequestSchema = z.strictObject({
  run: runIdSchema.optional().describe('Joins this run, or names the new one'),
  crawler: z.string().regex(CRAWLER_NAME, 'expected the name of a crawler').optional(),
  args: z
    .record(
      z
        .string()
        .min(1)
        .max(100)
        .regex(/^[^=]+$/),
      z.string().max(LONGEST_TEXT),
    )
    .optional(),
  seeds: z
    .array(seed)
    .max(
      MOST_SEEDS,
      `expected at most ${MOST_SEEDS} seeds: open the run with none, and offer them in parts (POST /api/runs/RUN/offers)`,
    )
    .optional()
    .describe("Defaults to the crawler's own. With an empty list the run waits for offers until it is sealed"),
  options: crawlOptionsSchema.optional(),
  webhook: webhookSchema.optional().describe('Receives a POST when the run has ended'),
});

/** Answer of `produce --json`. */
export const producedSchema = z.looseObject({
  run: z.string(),
  state: z.string(),
  discovered: z.int(),
  duplicate: z.int(),
  malformed: z.int(),
  waiting: z.int(),
  inFlight: z.int(),
  leftOut: leftOutSchema,
  older: z.object({ pages: z.int(), sitemaps: z.int() }).describe('Left out by lastmodSince'),
  unwanted: z.int().describe('Pages of sitemaps left out by include and exclude'),
  workers: z.int(),
  workerCommand: z.string().optional().describe('The command that starts a worker, if there is none'),
});
