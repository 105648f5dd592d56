import { z } from 'zod';
import { DAY_MS } from '../task/durations.ts';
import { carriedFields, type WrittenTask, writtenTask, writtenTaskSchema } from '../task/task/form.ts';
import { FAILED_REASONS, type FailedReason, type LetterReason } from '../task/task/outcome.ts';
import { idOf, RUN_ID, type Task } from '../task/task/task.ts';
import { loginsField, withLogin } from '../task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials, withoutCredentialsIn } from '../task/url/url.ts';
import type { AttemptNote, TaskState } from './frontier/frontier.ts';
import type { GroupOwner } from './frontier/groups.ts';
import type { OutgoingMessage } from './transport.ts';

/** Dead letters are kept this long, wherever that is. */
export const LETTER_TTL_MS = DAY_MS;

const letterSchema = z.object({
  ...writtenTaskSchema.shape,
  run: z.string().regex(RUN_ID),
  reason: z.enum(FAILED_REASONS),
  status: z.int().optional(),
  error: z.string().optional(),
  attempts: z.array(
    z.object({
      at: z.number(),
      worker: z.string(),
      reason: z.string(),
      status: z.int().optional(),
      error: z.string().optional(),
    }),
  ),
  firstSeen: z.string(),
  failedAt: z.string(),
  owner: z.object({ ...writtenTaskSchema.shape, claimed: z.string().optional() }).optional(),
});

/** The body of a message in `failed_urls`: a failed task with its reason. Its logins are kept for a replay, and never shown, as are the credentials in its request. */
export interface DeadLetter extends WrittenTask, Failed {
  readonly run: string;
}

/** What a dead letter holds besides the task. */
interface Failed {
  readonly reason: LetterReason;
  /** Of the last answer, if there was one. */
  readonly status?: number;
  /** The last error, as a sentence. */
  readonly error?: string;
  /** The last ten failed attempts, newest first: when, by which worker, and why. */
  readonly attempts: readonly AttemptNote[];
  /** ISO 8601, as the next. */
  readonly firstSeen: string;
  readonly failedAt: string;
  /** Of a member or a join of a group: the group's owner as it was offered, for a replay. */
  readonly owner?: LetterOwner;
}

/** `claimed`: see {@link GroupOwner}. */
export interface LetterOwner extends WrittenTask {
  readonly claimed?: string;
}

/** How a task failed. */
export interface Failure {
  readonly reason: FailedReason;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly attempts: readonly AttemptNote[];
  /** Epoch milliseconds. */
  readonly at: number;
  /** See `ownerOf` of `groups.ts`; without it, the letter of a member or a join can't be replayed. */
  readonly owner?: GroupOwner | undefined;
}

const MAX_HEADER_LENGTH = 1_024;

/** The dead letter of a failed task, as a message. */
export function deadLetterOf(task: Task, state: TaskState, failure: Failure): OutgoingMessage {
  const { reason, status, attempts, at, owner, error = untriedError(reason, state) } = failure;
  const { cookies: _, ...lasting } = task;
  const failed: Failed = {
    reason,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    attempts,
    firstSeen: new Date(state.firstSeen).toISOString(),
    failedAt: new Date(at).toISOString(),
    ...(owner === undefined ? {} : { owner: letterOwner(owner) }),
  };
  return {
    to: 'failed',
    id: idOf(task),
    body: JSON.stringify({ ...writtenTask(lasting), ...failed }),
    headers: {
      'x-attempt': attempts.length,
      'x-first-seen': state.firstSeen,
      'x-last-error': lastError(reason, error),
      ...(state.deadline === undefined ? {} : { 'x-deadline': state.deadline }),
    },
  };
}

/** The owner from its beginning: where redirects led it, and what it has claimed for that, is found anew. */
function letterOwner({ task, claimed = task.replayed?.claimed }: GroupOwner): LetterOwner {
  const { run, url, host, mark, step, queue, logins } = task;
  const begun = { ...carriedFields(task), ...{ run, url, host, mark, step, queue }, ...loginsField(logins) };
  return { ...(writtenTask(begun) as WrittenTask), ...(claimed === undefined ? {} : { claimed }) };
}

/** A broker refuses a message that is too large, and closes the channel of whoever sent it: 16 MiB by default, on 4.x. */
const MAX_RAW_BYTES = 2 ** 20;

/** The dead letter of a body that is not a task, as a message: the first MiB of its bytes, unchanged. */
export function malformedLetterOf(id: string | undefined, body: Uint8Array, problem: string): OutgoingMessage {
  const isCut = body.byteLength > MAX_RAW_BYTES;
  const said = isCut ? `${problem} (the first ${MAX_RAW_BYTES} of ${body.byteLength} bytes)` : problem;
  return {
    to: 'failed',
    id: id ?? 'malformed',
    body: isCut ? body.subarray(0, MAX_RAW_BYTES) : body,
    headers: { 'x-last-error': lastError('malformed', said) },
  };
}

/** Reads a dead letter; nothing if its body is that of a malformed message, or anything else. */
export function readDeadLetter(body: Uint8Array): DeadLetter | undefined {
  try {
    const read = letterSchema.safeParse(JSON.parse(new TextDecoder().decode(body)));
    return read.success ? withoutLogin(read.data as unknown as DeadLetter) : undefined;
  } catch {
    return undefined;
  }
}

/** Older programs left credentials in the URL, as other AMQP clients may. */
function withoutLogin(letter: DeadLetter): DeadLetter {
  if (!letter.url.includes('@')) return letter;
  const url = readUrl(letter.url);
  if (isProblem(url)) return { ...letter, url: withoutCredentials(letter.url) };
  return url.login === undefined
    ? letter
    : { ...letter, url: url.href, ...loginsField(withLogin(letter.logins, url.href, url.login)) };
}

/** Why a task failed whose failure no attempt explains, as a sentence. */
export function untriedError(reason: FailedReason, { deadline, starts }: TaskState): string | undefined {
  switch (reason) {
    case 'deadline':
      return deadline === undefined ? undefined : `its deadline was ${new Date(deadline).toISOString()}`;
    case 'crash_loop':
      return `it was begun ${starts} times, and ended every worker that began it`;
    case 'host_down':
      return 'its host never answered, or gave nothing but errors for too long';
    default:
      return undefined;
  }
}

function lastError(reason: FailedReason, error: string | undefined): string {
  return (error === undefined ? reason : `${reason}: ${withoutCredentialsIn(error)}`).slice(0, MAX_HEADER_LENGTH);
}
