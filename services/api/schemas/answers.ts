import { z } from 'zod';
import { ROLES } from '../access/tokens.ts';

const counts = z.record(z.string(), z.number());
/** Number of links and seeds that a run left out, by the flag that excluded them. */
export const leftOutSchema = z.object({
  depth: z.int(),
  scope: z.int(),
  maxPages: z.int(),
  limit: z.int(),
  condition: z.int(),
});
const stepCounts = z.object({ discovered: z.int(), done: z.int(), skipped: z.int(), failed: z.int() });

export const callerSchema = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  needsToken: z.boolean().describe('False if this API has no tokens: anyone who reaches it can do everything'),
  isLocal: z.boolean().describe('True if this API serves the crawls of one machine, which have no separate workers'),
});

/** Counters of a run, as `status` prints them. */
const runSummarySchema = z.looseObject({
  run: z.string(),
  state: z.enum(['running', 'paused', 'cancelled', 'finished']),
  discovered: z.int(),
  duplicate: z.int(),
  waiting: z.int(),
  inFlight: z.int(),
  done: z.int(),
  skipped: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  reasons: z.object({ failed: counts, skipped: counts }),
  hostsDown: z.object({
    count: z.int(),
    named: z.array(z.object({ host: z.string(), kind: z.string(), reason: z.string() })),
  }),
  leftOut: leftOutSchema,
  steps: z.record(z.string(), stepCounts).optional(),
  stepFailures: z.array(z.object({ place: z.string(), pages: z.int(), error: z.string() })).optional(),
  openGroups: z.int().optional(),
  bytes: z.number(),
  bytesSaved: z.number(),
  seconds: z.number(),
  pagesPerSecond: z.number(),
  records: z.int(),
  maxPagesReached: z.literal(true).optional(),
  sealed: z.boolean(),
  pauseReason: z.string().nullable(),
  stoppedAt: z
    .string()
    .optional()
    .describe('When a local run that no process crawls was last active; its state is still running or paused'),
  producers: z.object({ open: z.int(), lost: z.int() }),
  lostProducers: z.array(z.object({ id: z.string(), silentSeconds: z.int() })),
});

const pausedHostSchema = z.looseObject({
  host: z.string(),
  reason: z.string(),
  byHand: z.boolean(),
  unreachable: z.boolean(),
  seconds: z.int().optional().describe('Seconds until it resumes; left out if somebody has to resume it'),
});
const ofHosts = {
  dueHosts: z.int(),
  pausedHostCount: z.int(),
  pausedHosts: z.array(pausedHostSchema).describe('The hosts paused longest, at most 20'),
};

/** Answer of `status RUN --json`. */
export const runStatusSchema = runSummarySchema.extend({
  crawler: z.string(),
  bottleneck: z.string().nullable(),
  etaSeconds: z.number().nullable(),
  workers: z.int(),
  incremental: z.boolean(),
  recrawlAfterSeconds: z.number().nullable(),
  ...ofHosts,
});

const workerSchema = z.looseObject({
  id: z.string(),
  host: z.string(),
  version: z.string(),
  protocol: z.int().optional(),
  crawlers: z.record(z.string(), z.string()).optional().describe("The crawlers' versions, by name"),
  lacking: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('Secrets that it lacks, by the crawlers that it leaves to other workers for that reason'),
  slots: z.int(),
  bound: z.string(),
  inHand: z.int(),
  state: z.string(),
  brokerTrouble: z
    .string()
    .optional()
    .describe(
      'Why it cannot publish: `disconnected`, `full` (a queue refuses messages), `too_large` (RabbitMQ refuses the largest), or `blocked: ` and the alarm',
    ),
  progress: z
    .object({
      settledMsAgo: z.number().optional(),
      unsettledMs: z.number(),
      stuckAfterMs: z.number(),
      pagesPerSecond: z.number().optional(),
      busyShare: z.number().optional(),
    })
    .optional(),
  silentMs: z.number(),
});

/** A worker with its tasks in hand. */
export const workerTasksSchema = workerSchema.extend({
  tasks: z
    .array(z.object({ run: z.string(), url: z.string(), step: z.string(), forMs: z.int() }))
    .optional()
    .describe('The tasks it has had longest, at most 20; left out by workers of earlier versions'),
});

/** Answer of `status --json`. */
export const fleetSchema = z.looseObject({
  known: z.int(),
  open: z.int(),
  runs: z.array(runSummarySchema),
  ...ofHosts,
  workers: z.array(workerSchema),
});

/** A run in a list: its counters and its bottleneck. */
export const listedRunSchema = runSummarySchema.extend({
  crawler: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  recentPagesPerSecond: z.number(),
  bottleneck: z.string().nullable(),
  etaSeconds: z.number().nullable(),
});

/** The fleet's figures at one moment of the last hour. */
export const momentSchema = z.object({
  at: z.string(),
  pagesPerSecond: z.number(),
  waiting: z.int(),
  inFlight: z.int(),
  done: z.int(),
  failed: z.int(),
  workers: z.int(),
});

/** Answer of a steering command: the run's state before and after it. */
export const steeredSchema = z.looseObject({
  run: z.string(),
  was: z.string(),
  is: z.string(),
  wasSealed: z.boolean(),
  sealed: z.boolean(),
  waiting: z.int(),
  inFlight: z.int(),
  cancelled: z.int(),
  pauseReason: z.string().nullable(),
});

const pauseSchema = z.object({
  paused: z.boolean(),
  byHand: z.boolean().optional(),
  reason: z.string().optional(),
  ms: z.number().optional().describe('Milliseconds until it resumes; left out if it is paused by hand'),
});
export const steeredHostSchema = z.object({ host: z.string(), was: pauseSchema, is: pauseSchema });

/** A host over all runs. */
export const listedHostSchema = z.object({
  host: z.string(),
  waiting: z.int(),
  runs: z.array(z.string()),
  paused: z.boolean(),
  pausedSeconds: z
    .number()
    .nullable()
    .describe('Seconds until it resumes; null if it is not paused, or if somebody has to resume it'),
  reason: z.string(),
  byHand: z.boolean(),
  unreachable: z.boolean(),
  rate: z.string().nullable().describe('Fastest pace at which it is asked: 60/min, or none for no limit'),
  intervalMs: z.number().nullable(),
  because: z.string().nullable().describe('What sets that pace: rate, answers, robots, slowed'),
  responseMs: z.number().nullable(),
});

/** A failed attempt. */
export const attemptSchema = z.looseObject({
  at: z.number(),
  worker: z.string(),
  reason: z.string(),
  status: z.int().optional(),
  error: z.string().optional(),
  place: z.string().optional().describe("Place in the crawler's code where its step failed"),
});

/** A dead letter, as `dlq show` prints it, without the fields that only some tasks have. */
export const letterSchema = z.looseObject({
  id: z.string().nullable(),
  v: z.int().optional(),
  run: z.string().optional(),
  url: z.string().optional(),
  step: z.string().optional(),
  queue: z.string().optional(),
  depth: z.int().optional(),
  reason: z.string(),
  status: z.int().optional(),
  error: z.string().optional(),
  attempts: z.array(attemptSchema).optional(),
  firstSeen: z.string().optional(),
  failedAt: z.string().optional(),
  expiresAt: z.string().optional(),
  raw: z.string().optional().describe('Body of a message that was not a task'),
  rawBase64: z.string().optional().describe('Body of a message that was not a task and is not UTF-8'),
});
