import { z } from 'zod';
import { ROLES } from '../access/tokens.ts';

const counts = z.record(z.string(), z.number());

export const callerSchema = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  needsToken: z.boolean().describe('false: this API has no tokens, and whoever reaches it may do all'),
  isLocal: z.boolean().describe('true: this API is of the crawls of one machine, which have no workers of their own'),
});

/** A run's counters, as `status` prints them. */
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
  bytes: z.number(),
  seconds: z.number(),
  pagesPerSecond: z.number(),
  records: z.int(),
  sealed: z.boolean(),
  pauseReason: z.string().nullable(),
});

const pausedHostSchema = z.looseObject({
  host: z.string(),
  reason: z.string(),
  byHand: z.boolean(),
  unreachable: z.boolean(),
});
const ofHosts = { dueHosts: z.int(), pausedHosts: z.array(pausedHostSchema) };

/** `status RUN --json`. */
export const runStatusSchema = runSummarySchema.extend({
  bottleneck: z.string().nullable(),
  etaSeconds: z.number().nullable(),
  workers: z.int(),
  ...ofHosts,
});

const workerSchema = z.looseObject({
  id: z.string(),
  host: z.string(),
  version: z.string(),
  slots: z.int(),
  bound: z.string(),
  inHand: z.int(),
  state: z.string(),
  silentMs: z.number(),
});

/** A worker with what it has in hand. */
export const workerTasksSchema = workerSchema.extend({
  tasks: z
    .array(z.object({ run: z.string(), url: z.string(), step: z.string(), forMs: z.int() }))
    .optional()
    .describe('Those that it has had longest, at most 20; left out by workers of earlier versions'),
});

/** `status --json`. */
export const fleetSchema = z.looseObject({
  known: z.int(),
  open: z.int(),
  runs: z.array(runSummarySchema),
  ...ofHosts,
  workers: z.array(workerSchema),
});

/** A run in a list: its counters, and what it waits for. */
export const listedRunSchema = runSummarySchema.extend({
  crawler: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  recentPagesPerSecond: z.number(),
  bottleneck: z.string().nullable(),
  etaSeconds: z.number().nullable(),
});

/** A moment of the fleet, in the ring of the last hour. */
export const momentSchema = z.object({
  at: z.string(),
  pagesPerSecond: z.number(),
  waiting: z.int(),
  inFlight: z.int(),
  done: z.int(),
  failed: z.int(),
  workers: z.int(),
});

/** What a steering command prints. */
export const steeredSchema = z.looseObject({
  run: z.string(),
  was: z.string(),
  is: z.string(),
  waiting: z.int(),
  inFlight: z.int(),
  cancelled: z.int(),
});

const pauseSchema = z.looseObject({ paused: z.boolean() });
export const steeredHostSchema = z.object({ host: z.string(), was: pauseSchema, is: pauseSchema });

/** A host over all runs. */
export const listedHostSchema = z.object({
  host: z.string(),
  waiting: z.int(),
  runs: z.array(z.string()),
  paused: z.boolean(),
  pausedSeconds: z.number().nullable().describe('null: not paused, or until somebody resumes it'),
  reason: z.string(),
  byHand: z.boolean(),
  unreachable: z.boolean(),
  rate: z.string().nullable().describe('How fast it may be asked: 60/min, or none for no limit'),
  intervalMs: z.number().nullable(),
  because: z.string().nullable().describe('What asks for that: rate, answers, robots, slowed'),
  responseMs: z.number().nullable(),
});

/** A dead letter, as `dlq show` prints it. */
export const letterSchema = z.looseObject({ id: z.string().nullable(), reason: z.string() });
