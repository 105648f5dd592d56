import { z } from 'zod';
import { FIRST_STEP, keyOfMark, markOf, taskIdOf } from '../url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../url/logins.ts';
import { canonicalOf, isProblem, readUrl, withoutCredentials } from '../url/url.ts';
import type { Queue } from './routing.ts';

/** One URL to fetch for one step of one run. */
export interface Task {
  readonly run: string;
  /** What is fetched: the URL as it was written, serialised, without credentials. */
  readonly url: string;
  /** The politeness key; see {@link CrawlUrl.host}. */
  readonly host: string;
  /** Its entry in the dedup set: what the URL is compared by, with the step in front when it isn't the first. */
  readonly mark: string;
  /** A step of the run's crawler; `''` is the first. */
  readonly step: string;
  /** Links followed from a seed to here. */
  readonly depth: number;
  readonly queue: Queue;
  /** Links are followed in this folder only, host and path, in a run of scope `path`. Left out: a seed, or another scope. */
  readonly within?: string;
  /**
   * Where redirects have led so far, when a host on the way made the task wait: the last of these URLs is asked next, and
   * {@link host} is that one's. Left out when there are none.
   */
  readonly redirects?: readonly string[];
  /** Credentials for its own origin, and for those that redirects have led it to. Left out when there are none. */
  readonly logins?: Logins;
}

/** The URL that is asked next for a task. */
export function nextUrlOf({ url, redirects }: Pick<Task, 'url' | 'redirects'>): string {
  return redirects?.at(-1) ?? url;
}

/** The id of a task: `<run>:<fingerprint>`. */
export function idOf(task: Pick<Task, 'run' | 'mark'>): string {
  return taskIdOf(task.run, task.mark);
}

/** The run that the id of a message names; nothing if it names none. What stands there may be a stranger's, and no run id. */
export function runNamedBy(id = ''): string | undefined {
  return id.slice(0, Math.max(0, id.lastIndexOf(':'))) || undefined;
}

/** A run id: it stands in Redis keys, file names and URLs. */
export const RUN_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The version of the message that this program writes. */
export const MESSAGE_VERSION = 1;

/** A message is at most so large, and a text in it. */
export const MAX_BODY_BYTES = 262_144;
export const MAX_FIELD_BYTES = 65_536;

const BODY = new TextDecoder();

function field() {
  return z.string().refine(fits, { error: `Too big: expected at most ${MAX_FIELD_BYTES} bytes`, abort: true });
}

const bodySchema = z.object({
  v: z.literal(MESSAGE_VERSION).default(MESSAGE_VERSION),
  run: z.string().regex(RUN_ID).optional(),
  url: field(),
  key: field().regex(/^\S+$/).exactOptional(),
  step: field().regex(/^\S*$/).default(FIRST_STEP),
  depth: z.int().min(0).default(0),
  queue: z.enum(['priority', 'normal']).default('normal'),
  within: field().exactOptional(),
  redirects: z.array(field()).min(1).optional(),
  logins: z.record(field(), field()).optional(),
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
  const within = task.within === undefined ? '' : `,"within":${JSON.stringify(task.within)}`;
  const redirects = task.redirects === undefined ? '' : `,"redirects":${JSON.stringify(task.redirects)}`;
  const logins = task.logins === undefined ? '' : `,"logins":${JSON.stringify(task.logins)}`;
  return `{"v":${MESSAGE_VERSION},"run":"${task.run}","url":${JSON.stringify(task.url)}${keyField(task)}${step},"depth":${task.depth},"queue":"${task.queue}"${within}${redirects}${logins}}`;
}

/** What the URL is compared by, when its run has rules of its own for that. */
function keyField({ url, mark, step, logins }: Task): string {
  const plain = keyWithLogin(canonicalOf(url), loginFor(url, logins));
  return mark === markOf(plain, step) ? '' : `,"key":${JSON.stringify(keyOfMark(mark, step))}`;
}

/** Reads what {@link writeMessage} or any other AMQP client wrote. */
export function readMessage(body: Uint8Array): ReadMessage {
  if (body.byteLength > MAX_BODY_BYTES)
    return { kind: 'malformed', problem: `the body has ${body.byteLength} bytes, more than ${MAX_BODY_BYTES}` };
  let json: unknown;
  try {
    json = JSON.parse(BODY.decode(body));
  } catch {
    return { kind: 'malformed', problem: 'the body is not JSON' };
  }
  const version = versionOf(json);
  if (version > MESSAGE_VERSION) return { kind: 'newer', version };
  const parsed = bodySchema.safeParse(json);
  if (!parsed.success) return { kind: 'malformed', problem: z.prettifyError(parsed.error).replaceAll('\n', ' ') };
  const { run, step, depth, queue, within, redirects } = parsed.data;
  const url = readUrl(parsed.data.url);
  if (isProblem(url)) return { kind: 'malformed', problem: `the URL can't be crawled: ${url.problem}` };
  let logins = withLogin(parsed.data.logins, url.href, url.login);
  const mark = markOf(parsed.data.key ?? keyWithLogin(url.canonical, loginFor(url.href, logins)), step);
  const task = {
    run,
    url: url.href,
    host: url.host,
    mark,
    step,
    depth,
    queue,
    ...(within === undefined ? {} : { within }),
  };
  if (redirects === undefined) return { kind: 'task', task: { ...task, ...loginsField(logins) } };
  const next = readUrl(redirects.at(-1) ?? '');
  if (isProblem(next)) {
    return { kind: 'malformed', problem: `the URL it was redirected to can't be crawled: ${next.problem}` };
  }
  const hops = redirects.map((hop) => {
    const read = readUrl(hop);
    if (isProblem(read)) return withoutCredentials(hop);
    logins = withLogin(logins, read.href, read.login);
    return read.href;
  });
  return { kind: 'task', task: { ...task, host: next.host, redirects: hops, ...loginsField(logins) } };
}

function versionOf(json: unknown): number {
  const version = typeof json === 'object' && json !== null && 'v' in json ? json.v : undefined;
  return typeof version === 'number' && Number.isInteger(version) ? version : 0;
}

/** A character has three bytes at most for each unit of its length: most texts need not be counted. */
function fits(text: string): boolean {
  return text.length * 3 <= MAX_FIELD_BYTES || Buffer.byteLength(text) <= MAX_FIELD_BYTES;
}
