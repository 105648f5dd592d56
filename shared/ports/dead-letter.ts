import { z } from 'zod';
import { DAY_MS } from '../task/durations.ts';
import { carriedFields, type WrittenTask, writtenTask, writtenTaskSchema } from '../task/task/form.ts';
import { FAILED_REASONS, type FailedReason, type LetterReason } from '../task/task/outcome.ts';
import { idOf, RUN_ID, type Task } from '../task/task/task.ts';
import { loginsField, withLogin } from '../task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials, withoutCredentialsIn } from '../task/url/url.ts';
import type { AttemptHistory, AttemptNote, TaskState } from './frontier/frontier.ts';
import type { GroupOwner } from './frontier/groups.ts';
import type { OutgoingMessage } from './transport.ts';

/** Time after which dead letters expire, wherever they are kept. */
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

/**
 * The body of a message in `failed_urls`: a failed task with its reason. Its logins and the credentials in its request are kept
 * for a replay and never shown.
 */
export interface DeadLetter extends WrittenTask, Failed {
  readonly run: string;
}

/** The contents of a dead letter besides the task. */
interface Failed {
  readonly reason: LetterReason;
  /** Status of the last answer, if there was one. */
  readonly status?: number;
  /** The last error, as a sentence. */
  readonly error?: string;
  /** The last ten failed attempts, newest first: when, by which worker, and why. */
  readonly attempts: readonly AttemptNote[];
  /** ISO 8601, like `failedAt`. */
  readonly firstSeen: string;
  readonly failedAt: string;
  /** Only for a member or a join of a group: the group's owner as it was offered, for a replay. */
  readonly owner?: LetterOwner;
}

/** For `claimed`, see {@link GroupOwner}. */
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
  /** See `ownerOf` in `groups.ts`. Without it, the letter of a member or a join can't be replayed. */
  readonly owner?: GroupOwner | undefined;
}

const MAX_HEADER_LENGTH = 1_024;

/** Returns the earlier attempts of a failed task, for its letter. A task that was only throttled has them, too; most tasks have none. */
export async function earlierAttempts(
  { mark }: Pick<Task, 'mark'>,
  { attempts, throttles }: TaskState,
  history: AttemptHistory,
): Promise<readonly AttemptNote[]> {
  return attempts + throttles > 0 ? await history.attempts(mark) : [];
}

/** Returns the dead letter of a failed task, as a message. */
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

/** Returns the owner as it was first offered: a replay follows its redirects, and claims their target, again. */
function letterOwner({ task, claimed = task.replayed?.claimed }: GroupOwner): LetterOwner {
  const { run, url, host, mark, step, queue, logins } = task;
  const begun = { ...carriedFields(task), ...{ run, url, host, mark, step, queue }, ...loginsField(logins) };
  return { ...(writtenTask(begun) as WrittenTask), ...(claimed === undefined ? {} : { claimed }) };
}

/** Well below a broker's limit, 16 MiB by default on 4.x: it refuses a larger message and closes the sender's channel. */
const MAX_RAW_BYTES = 2 ** 20;

/** Returns the dead letter of a body that is not a task, as a message: the first MiB of its bytes, unchanged. */
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

/** Reads a dead letter. Returns `undefined` if the body is that of a malformed message, or anything else. */
export function readDeadLetter(body: Uint8Array): DeadLetter | undefined {
  try {
    const read = letterSchema.safeParse(JSON.parse(new TextDecoder().decode(body)));
    return read.success ? withoutLogin(read.data as unknown as DeadLetter) : undefined;
  } catch {
    return undefined;
  }
}

/** Moves credentials from the URL to the logins. Older programs left them in the URL, and other AMQP clients can, too. */
function withoutLogin(letter: DeadLetter): DeadLetter {
  if (!letter.url.includes('@')) return letter;
  const url = readUrl(letter.url);
  if (isProblem(url)) return { ...letter, url: withoutCredentials(letter.url) };
  return url.login === undefined
    ? letter
    : { ...letter, url: url.href, ...loginsField(withLogin(letter.logins, url.href, url.login)) };
}

/** Returns the error, as a sentence, for a failure that no attempt explains. */
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
