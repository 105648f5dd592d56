import { CrawlerFault } from './crawler-fault.ts';
import { meantBy } from './other-names.ts';
import { type Places, placesIn } from './place.ts';
import { Statements } from './statement.ts';

/** A crawler's function threw, took too long, or returned something that a step may not. Only this page fails. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly code = 'ERR_STEP';
  readonly reason: CrawlerFault['reason'];
  /** File and line with the step, or the crawler with the step, if no line threw: failures of one place are counted together. */
  readonly place: string;

  constructor(place: string, said: string, cause: unknown) {
    super(`${place}: ${said}`.slice(0, MAX_MESSAGE_LENGTH), { cause });
    this.place = place;
    this.reason = cause instanceof CrawlerFault ? cause.reason : 'step';
  }
}

/** A problem that was found with a step from outside, so it has no line in the crawler. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

/** Lines of stack kept while a step runs: frames of packages may stand above the crawler's own. */
export const STACK_LINES = 50;
/** Characters kept of a crawler's error message, and of why a middleware skips a page. */
export const MAX_MESSAGE_LENGTH = 2_000;

/** The function of a crawler that is called. */
export interface AboutCall {
  /** The crawler's name. */
  readonly crawler: string;
  /** Of a crawler with steps. */
  readonly step?: string;
  /** It is a join's. */
  readonly isJoin?: boolean;
  /** What else of it is called: a middleware, or its login. */
  readonly part?: string;
  /** `false`: the statement that threw is not told. */
  readonly tellsStatement?: boolean;
}

/** The failure of a crawler's function: its place, what is wrong, and the statement. The crawler is named where no line can be. */
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

/** A sentence for any thrown value; even reading an error may throw. */
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
