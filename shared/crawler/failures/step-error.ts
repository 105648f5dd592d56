import { CrawlerFault } from './crawler-fault.ts';
import { meantBy } from './other-names.ts';
import { type Places, placesIn } from './place.ts';
import { Statements } from './statement.ts';

/** A crawler's function threw, took too long, or returned a value that isn't allowed. Only this page fails. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code = 'ERR_STEP';
  readonly reason: CrawlerFault['reason'];
  /** File and line, or the crawler if no line threw, with the step. Failures in one place are counted together. */
  readonly place: string;

  constructor(place: string, said: string, cause: unknown) {
    super(`${place}: ${said}`.slice(0, MAX_MESSAGE_LENGTH), { cause });
    this.place = place;
    this.reason = cause instanceof CrawlerFault ? cause.reason : 'step';
  }
}

/** A problem with a step that was found from outside, so it has no line in the crawler. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

/** Stack frames recorded while a step runs: frames of packages can be above the crawler's own. */
export const STACK_LINES = 50;
/** Characters kept of a crawler's error message, and of why a middleware skips a page. */
export const MAX_MESSAGE_LENGTH = 2_000;

/** The crawler's function being called. */
export interface AboutCall {
  /** The crawler's name. */
  readonly crawler: string;
  /** The name of the step or join, if the crawler has steps. */
  readonly step?: string;
  /** Whether `step` is a join. */
  readonly isJoin?: boolean;
  /** The name of another function: a middleware, or the login. */
  readonly part?: string;
  /** `false` keeps the statement that threw out of the message. */
  readonly tellsStatement?: boolean;
}

/** Makes the error for a failure in a crawler's function: place, problem and statement. Without a line, it names the crawler instead. */
export function stepErrorOf(
  { crawler, step, isJoin = false, part, tellsStatement = true }: AboutCall,
  error: unknown,
  statements = new Statements(),
): StepError {
  const { crawler: line, source } = error instanceof ProblemError ? NO_PLACE : placesOf(error);
  const named = step === undefined ? '' : `, ${isJoin ? 'join' : 'step'} ${step}`;
  const place = `${line ?? `crawler ${crawler}`}${named}${part === undefined ? '' : `, ${part}`}`;
  const statement = source === undefined || !tellsStatement ? undefined : statements.at(source);
  return new StepError(place, `${sentenceOf(error)}${statement === undefined ? '' : `, in \`${statement}\``}`, error);
}

const NO_PLACE: Places = { crawler: undefined, any: undefined };

function placesOf(error: unknown): Places {
  try {
    return error instanceof Error ? placesIn(String(error.stack)) : NO_PLACE;
  } catch {
    return NO_PLACE;
  }
}

/** Returns a sentence for any thrown value. Even reading an error can throw. */
function sentenceOf(error: unknown): string {
  try {
    if (error instanceof ProblemError || error instanceof CrawlerFault) return error.message;
    if (!(error instanceof Error)) return `it threw ${typeof error === 'string' ? `'${error}'` : String(error)}`;
    const meant = meantBy(error);
    const said = error.name === 'Error' && error.message !== '' ? error.message : String(error);
    return meant === undefined ? said : `${said}: ${meant}`;
  } catch {
    return 'it threw a value without a message';
  }
}
