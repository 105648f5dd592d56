import {
  type AuthorsWork,
  afterFetch,
  beforeFetch,
  beforeStore,
  type CallAuthor,
  hasHook,
  type OnPage,
  transform,
} from '../../../shared/crawler/around/middleware-calls.ts';
import { masked, type Secrets } from '../../../shared/crawler/around/secrets.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import type { DoneRecord } from '../../../shared/ports/record.ts';
import type { Method, SentRequest } from '../../../shared/task/task/request.ts';
import type { Steps } from './steps.ts';
import { type Arrival, aboutAnswer, type Ending, failedStep, type Move, sentBy, urlOf, type Visit } from './visit.ts';

/*
 * Calls the middleware of a visit's crawler. A middleware that throws fails the page as a step does; a page it skips is
 * `skipped: middleware`. Most crawlers have no middleware, and for these no promise is created.
 */

/** Calls the functions of crawlers. */
export type Calls = Pick<Steps, 'call'>;

/** The decision of `beforeFetch` about a hop: a request, another URL, an answer in its place, or its end. */
export type Prepared =
  | { readonly send?: SentRequest }
  | { readonly move: Pick<Move, 'to'> }
  | { readonly arrival: Arrival }
  | { readonly ending: Ending };

/** Calls `beforeFetch` with the next request of a visit. */
export function prepared(visit: Visit, steps: Calls): Prepared | Promise<Prepared> {
  const send = sentBy(visit);
  if (hasHook(visit.run.crawler, 'beforeFetch')) return preparedBy(visit, send, steps);
  return send === undefined ? {} : { send };
}

async function preparedBy(visit: Visit, send: SentRequest | undefined, steps: Calls): Promise<Prepared> {
  const url = urlOf(visit);
  const { method = 'GET', headers = {}, body, mayRepeat = true } = send ?? {};
  try {
    const own = { seen: { url, method, headers, body }, mayRepeat };
    const changed = await beforeFetch(onPage(visit, url, steps), own);
    if ('skip' in changed) return { ending: skipped(changed.skip) };
    if ('answer' in changed) return { arrival: { fetched: changed.answer, fromCache: false, isMade: true } };
    if ('url' in changed) return { move: { to: changed.url } };
    if (changed.request === own) return send === undefined ? {} : { send };
    const { seen: sent, mayRepeat: isFree } = changed.request;
    const made = { method: sent.method as Method, headers: sent.headers, mayRepeat: isFree };
    return { send: sent.body === undefined ? made : { ...made, body: sent.body } };
  } catch (error: unknown) {
    return { ending: { ...brokenBy(error), hostAnswered: undefined } };
  }
}

/** The result of a request. */
type Came = { readonly arrival: Arrival } | { readonly ending: Ending };

/** Calls `afterFetch` with the answer to a visit's request, whether it is a page or not. */
export function seen<A extends Came>(visit: Visit, came: A, steps: Calls): A | Promise<A | Came> {
  return hasHook(visit.run.crawler, 'afterFetch') ? seenBy(visit, came, steps) : came;
}

async function seenBy<A extends Came>(visit: Visit, came: A, steps: Calls): Promise<A | Came> {
  const answer = 'arrival' in came ? came.arrival.fetched : came.ending.answer;
  if (answer === undefined) return came;
  const about: Omit<Ending, 'outcome'> =
    'ending' in came
      ? came.ending
      : {
          hostAnswered: hasAsked(came.arrival) ? true : undefined,
          ...aboutAnswer(came.arrival),
          status: answer.status,
        };
  try {
    const after = await afterFetch(onPage(visit, answer.finalUrl, steps), answer);
    if ('skip' in after) return { ending: { ...about, ...skipped(after.skip) } };
    if (after.fetched === answer) return came;
    if ('arrival' in came) return { arrival: { ...came.arrival, fetched: after.fetched, isChanged: true } };
    const { askedAt } = came.ending;
    return {
      arrival: {
        fetched: after.fetched,
        fromCache: false,
        isChanged: true,
        ...(askedAt === undefined ? {} : { askedAt }),
      },
    };
  } catch (error: unknown) {
    return { ending: { ...about, ...brokenBy(error) } };
  }
}

/** Calls `transform` with the items of a page. Rejects with a StepError. */
export function transformed(visit: Visit, page: Page, extract: Extract, steps: Calls): Extract | Promise<Extract> {
  if (!hasHook(visit.run.crawler, 'transform')) return extract;
  return transform(onPage(visit, page.url, steps), page, extract);
}

/** A record to store, or the ending if it isn't stored. */
type Storable = { readonly record: DoneRecord } | { readonly ending: Ending };

/** Calls `beforeStore` with the record of a page. */
export function storable(visit: Visit, record: DoneRecord, steps: Calls): Storable | Promise<Storable> {
  return hasHook(visit.run.crawler, 'beforeStore') ? storableBy(visit, record, steps) : { record };
}

async function storableBy(visit: Visit, record: DoneRecord, steps: Calls): Promise<Storable> {
  try {
    const stored = await beforeStore(onPage(visit, record.finalUrl, steps), record);
    return 'skip' in stored ? { ending: skipped(stored.skip) } : stored;
  } catch (error: unknown) {
    return { ending: brokenBy(error) };
  }
}

/** Returns whether an arrival is a host's answer to this visit's request. */
export function hasAsked({ fromCache, isMade }: Arrival): boolean {
  return !fromCache && isMade !== true;
}

function onPage({ run, task }: Visit, url: string, steps: Calls): OnPage {
  const work: AuthorsWork = run;
  const call: CallAuthor = async (about, begin, end) => {
    try {
      return await steps.call({ about, url: task.url }, begin, end);
    } catch (error: unknown) {
      throw error instanceof StepError ? withoutSecrets(error, run.secrets) : error;
    }
  };
  return { work, task, url, call };
}

/** Masks secrets in a middleware's error, which can quote what was sent. */
function withoutSecrets(error: StepError, secrets: Secrets | undefined): StepError {
  const said = error.message.slice(error.place.length + 2);
  return new StepError(error.place, masked(said, secrets), error.cause);
}

function skipped(detail: string): Ending {
  return { outcome: { kind: 'skipped', reason: 'middleware', detail } };
}

function brokenBy(error: unknown): Ending {
  if (error instanceof StepError) return failedStep(error);
  throw error;
}
