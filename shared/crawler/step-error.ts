import { CrawlerFault } from './kept.ts';
import { placesIn } from './place.ts';

/** A crawler's function threw, took too long, or returned something that a step may not. Only this page fails. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code = 'ERR_STEP';
  readonly reason: CrawlerFault['reason'];

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.reason = cause instanceof CrawlerFault ? cause.reason : 'step';
  }
}

/** A problem that was found with a step from outside, so it has no line in the crawler. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

/** Lines of stack kept while a step runs: frames of packages may stand above the crawler's own. */
export const STACK_LINES = 50;
/** Characters kept of a crawler's error message. */
const MAX_MESSAGE_LENGTH = 2_000;

/**
 * The failure of a crawler's function, with place and message.
 *
 * @param whose the crawler and its step, which are named where no line of a file can be
 */
export function stepErrorOf(whose: string, error: unknown): StepError {
  const place = error instanceof ProblemError ? undefined : placeOf(error);
  return new StepError(`${place ?? whose}: ${sentenceOf(error)}`.slice(0, MAX_MESSAGE_LENGTH), error);
}

function placeOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? placesIn(String(error.stack)).crawler : undefined;
  } catch {
    return undefined;
  }
}

/** A sentence for any thrown value; even reading an error may throw. */
function sentenceOf(error: unknown): string {
  try {
    if (error instanceof ProblemError || error instanceof CrawlerFault) return error.message;
    if (!(error instanceof Error)) return `it threw ${typeof error === 'string' ? `'${error}'` : String(error)}`;
    return error.name === 'Error' && error.message !== '' ? error.message : String(error);
  } catch {
    return 'it threw a value without a message';
  }
}
