import { type DeadLetter, readDeadLetter } from '../../ports/dead-letter.ts';
import type { ReleaseName } from '../../ports/frontier/frontier.ts';
import type { DeadLetterMessage } from '../../ports/transport.ts';
import type { LetterReason } from '../../task/task/outcome.ts';
import { runNamedBy } from '../../task/task/task.ts';
import { isProblem, readUrl } from '../../task/url/url.ts';
import { readUndelivered } from './undelivered.ts';

/** A message of `failed_urls`: a dead letter, a task that the broker has moved there, or the raw body of a message that wasn't a task. */
export interface FoundLetter {
  readonly message: DeadLetterMessage;
  /** Undefined for a raw body. */
  readonly letter: DeadLetter | undefined;
  readonly reason: LetterReason;
  /** The release of a task that the broker has moved. */
  readonly release?: ReleaseName;
  /** The run it failed in; undefined if it names none. */
  readonly run: string | undefined;
  /** The politeness key; undefined for a text that isn't a URL. */
  readonly host: string | undefined;
}

/** A selection of letters: those that match all given fields. */
export interface LetterFilter {
  readonly reason?: LetterReason | undefined;
  readonly host?: string | undefined;
  readonly run?: string | undefined;
}

export function readLetter(message: DeadLetterMessage): FoundLetter {
  const undelivered = readUndelivered(message);
  const letter = undelivered?.letter ?? readDeadLetter(message.body);
  // A raw body names no run, but a message damaged in transit still has its task id.
  if (letter === undefined)
    return { message, letter, reason: 'malformed', run: runNamedBy(message.id), host: undefined };
  const url = readUrl(letter.url);
  return {
    message,
    letter,
    reason: letter.reason,
    ...(undelivered === undefined ? {} : { release: undelivered.release }),
    run: letter.run,
    host: isProblem(url) ? undefined : url.host,
  };
}

export function isMeant(found: FoundLetter, { reason, host, run }: LetterFilter): boolean {
  return (
    (reason === undefined || found.reason === reason) &&
    (host === undefined || found.host === host) &&
    (run === undefined || found.run === run)
  );
}
