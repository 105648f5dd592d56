import { z } from 'zod';
import { FIRST_STEP, markOf, taskIdOf } from './fingerprint.ts';
import type { Queue } from './routing.ts';
import { canonicalOf, isProblem, readUrl } from './url.ts';

/** One URL to fetch for one step of one run. */
export interface Task {
  readonly run: string;
  /** What is fetched: the URL as it was written, serialised. */
  readonly url: string;
  /** The politeness key; see {@link CrawlUrl.host}. */
  readonly host: string;
  /** Its entry in the dedup set: the canonical URL, with the step in front when it isn't the first. */
  readonly mark: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  /** Links followed from a seed to here. */
  readonly depth: number;
  readonly queue: Queue;
}

/** The id of a task: `<run>:<fingerprint>`. */
export function idOf(task: Pick<Task, 'run' | 'mark'>): string {
  return taskIdOf(task.run, task.mark);
}

/** A run id: it stands in Redis keys, file names and URLs. */
export const RUN_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The version of the message that this program writes. */
export const MESSAGE_VERSION = 1;

const bodySchema = z.object({
  v: z.literal(MESSAGE_VERSION).default(MESSAGE_VERSION),
  run: z.string().regex(RUN_ID).optional(),
  url: z.string(),
  step: z.string().regex(/^\S*$/).default(FIRST_STEP),
  depth: z.int().min(0).default(0),
  queue: z.enum(['priority', 'normal']).default('normal'),
});

/** What the body of a message turned out to be. */
export type ReadMessage =
  /** A task; without a run if a stranger wrote it and named none. */
  | { readonly kind: 'task'; readonly task: Omit<Task, 'run'> & { readonly run: string | undefined } }
  /** Written by a newer program: for others to work, never malformed. */
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'malformed'; readonly problem: string };

/** The JSON body of a message: the task, versioned, so that any AMQP client can read it. */
export function writeMessage(task: Task): string {
  const step = task.step === FIRST_STEP ? '' : `,"step":${JSON.stringify(task.step)}`;
  return `{"v":${MESSAGE_VERSION},"run":"${task.run}","url":${JSON.stringify(task.url)}${step},"depth":${task.depth},"queue":"${task.queue}"}`;
}

/** Reads what {@link writeMessage} or any other AMQP client wrote. */
export function readMessage(body: string): ReadMessage {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { kind: 'malformed', problem: 'the body is not JSON' };
  }
  const version = versionOf(json);
  if (version > MESSAGE_VERSION) return { kind: 'newer', version };
  const parsed = bodySchema.safeParse(json);
  if (!parsed.success) return { kind: 'malformed', problem: z.prettifyError(parsed.error).replaceAll('\n', ' ') };
  const { run, step, depth, queue } = parsed.data;
  const url = readUrl(parsed.data.url);
  if (isProblem(url)) return { kind: 'malformed', problem: `the URL can't be crawled: ${url.problem}` };
  const task = { run, url: url.href, host: url.host, mark: markOf(canonicalOf(url.href), step), step, depth, queue };
  return { kind: 'task', task };
}

function versionOf(json: unknown): number {
  const version = typeof json === 'object' && json !== null && 'v' in json ? json.v : undefined;
  return typeof version === 'number' && Number.isInteger(version) ? version : 0;
}
