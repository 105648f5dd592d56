import { z } from 'zod';
import { type WrittenTask, writtenTask, writtenTaskSchema } from '../task/task/form.ts';
import { FAILED_REASONS, type FailedReason } from '../task/task/outcome.ts';
import { idOf, RUN_ID, type Task } from '../task/task/task.ts';
import { loginsField, withLogin } from '../task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials, withoutCredentialsIn } from '../task/url/url.ts';
import type { AttemptNote, TaskState } from './frontier.ts';
import type { OutgoingMessage } from './transport.ts';

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
});

/** The body of a message in `failed_urls`: a failed task with its reason. Its logins are for who crawls it again, and never shown. */
export interface DeadLetter extends WrittenTask, Failed {
  readonly run: string;
}

/** What a dead letter tells beyond the task. */
interface Failed {
  readonly reason: FailedReason;
  /** Of the last answer, if there was one. */
  readonly status?: number;
  /** The last error, as a sentence. */
  readonly error?: string;
  /** Failed attempts, newest first, the last ten: when, by which worker, and what came of each. */
  readonly attempts: readonly AttemptNote[];
  /** ISO 8601, as the next. */
  readonly firstSeen: string;
  readonly failedAt: string;
}

/** How a task failed. */
export interface Failure {
  readonly reason: FailedReason;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly attempts: readonly AttemptNote[];
  /** Epoch milliseconds. */
  readonly at: number;
}

const MAX_HEADER_LENGTH = 1_024;

/** The message that buries a failed task. */
export function deadLetterOf(task: Task, state: TaskState, failure: Failure): OutgoingMessage {
  const { reason, status, attempts, at, error = explain(reason, state) } = failure;
  const failed: Failed = {
    reason,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    attempts,
    firstSeen: new Date(state.firstSeen).toISOString(),
    failedAt: new Date(at).toISOString(),
  };
  return {
    to: 'failed',
    id: idOf(task),
    body: JSON.stringify({ ...writtenTask(task), ...failed }),
    headers: {
      'x-attempt': attempts.length,
      'x-first-seen': state.firstSeen,
      'x-last-error': lastError(reason, error),
      ...(state.deadline === undefined ? {} : { 'x-deadline': state.deadline }),
    },
  };
}

/** A broker refuses a message that is too large, and closes the channel of whoever sent it: 16 MiB by default, on 4.x. */
const MAX_RAW_BYTES = 2 ** 20;

/** The message that buries a body that is no task: its bytes as they came, the first MiB of them. */
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

/** Reads a dead letter; nothing if its body is a malformed message's, or anything else that is none. */
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

/** Why a task failed whose failure no attempt explains. */
function explain(reason: FailedReason, { deadline, starts }: TaskState): string | undefined {
  switch (reason) {
    case 'deadline':
      return deadline === undefined ? undefined : `it was worth doing until ${new Date(deadline).toISOString()}`;
    case 'crash_loop':
      return `it was begun ${starts} times, and no worker lived to end it`;
    case 'host_down':
      return 'its host gave nothing but errors for too long';
    default:
      return undefined;
  }
}

function lastError(reason: FailedReason, error: string | undefined): string {
  return (error === undefined ? reason : `${reason}: ${withoutCredentialsIn(error)}`).slice(0, MAX_HEADER_LENGTH);
}
