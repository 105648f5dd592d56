import { z } from 'zod';
import { CRAWLER_NAME } from '../producers.ts';
import { MOST_DEPTH, OPTION_SETTINGS } from '../run-request.ts';
import { leftOutSchema } from './answers.ts';
import { MOST_URL_LENGTH, runIdSchema } from './inputs.ts';

/** Characters of an option or a seed. */
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

/** What a request may say of a crawl: names of settings, none of which is a file, a folder or a private address. */
export const crawlOptionsSchema = z
  .strictObject({
    ...options,
    maxDepth: z.int().min(0).max(MOST_DEPTH).optional(),
    dedup: z.enum(['ever', 'run']).optional(),
    robots: z.literal('ignore').optional().describe('Needs the role admin. Left out: as the workers are set'),
    limit: z.int().min(1).max(LARGEST_LIMIT).optional(),
  })
  .describe('Settings of the run, by their names in the command line: rate, follow, maxPages …');

/** A seed is a URL: a file or standard input is the API's own machine's, and not for others to name. */
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
    .describe('By Standard Webhooks: whsec_ and the key as base64'),
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
    .describe("Left out: the crawler's own. None: the run waits for offers until it is sealed"),
  options: crawlOptionsSchema.optional(),
  webhook: webhookSchema.optional().describe('Told when the run has ended'),
});

/** What `produce --json` prints. */
export const producedSchema = z.looseObject({
  run: z.string(),
  state: z.string(),
  discovered: z.int(),
  duplicate: z.int(),
  malformed: z.int(),
  waiting: z.int(),
  inFlight: z.int(),
  leftOut: leftOutSchema,
  older: z.object({ pages: z.int(), sitemaps: z.int() }).describe('left out by lastmodSince'),
  workers: z.int(),
  workerCommand: z.string().optional().describe('without workers: what starts one'),
});
