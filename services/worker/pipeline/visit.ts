import { hash } from 'node:crypto';
import type { CookieJar } from '../../../shared/cookies/cookie-jar.ts';
import type { Step } from '../../../shared/crawler/crawler.ts';
import { mediaTypeOf } from '../../../shared/crawler/document/media-type.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import type { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { askedFrom } from '../../../shared/crawler/file-step.ts';
import type { KeptContent } from '../../../shared/crawler/page.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import type { AttemptNote, Settlement, TaskState } from '../../../shared/ports/frontier/frontier.ts';
import type { DoneRecord, EndedRecord } from '../../../shared/ports/record.ts';
import { groupOfMark } from '../../../shared/task/group/group.ts';
import { type CookieLine, withCookies } from '../../../shared/task/task/cookie-lines.ts';
import { recordedFields } from '../../../shared/task/task/form.ts';
import type { Judgement } from '../../../shared/task/task/judgement.ts';
import type { KnownPage } from '../../../shared/task/task/known-page.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import type { PagePart } from '../../../shared/task/task/page-limits.ts';
import { afterRedirect, asFollowed, digestOf, type SentRequest, sentTo } from '../../../shared/task/task/request.ts';
import { idOf, type Task } from '../../../shared/task/task/task.ts';
import { markOf } from '../../../shared/task/url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../../../shared/task/url/logins.ts';
import { canonicalOf, hostKeyOf } from '../../../shared/task/url/url.ts';
import { urlKeyOf } from '../../../shared/task/url/url-key.ts';
import type { WorkedRun } from '../run-directory.ts';

/** Maximum characters of an error in an attempt's note. */
const MAX_NOTE_LENGTH = 500;

/** One admitted task on its way through the pipeline. */
export interface Visit {
  readonly task: Task;
  /** 0 if the store has lost the run: then there is no ledger to settle in. */
  readonly release: number;
  /** Identifies the visit at the host gate; unique to the delivery, even if the store has lost the run. */
  readonly holder: string;
  readonly state: TaskState;
  readonly run: WorkedRun;
  readonly worker: string;
  /** See {@link Admission}; applies to the host that the task was admitted for. */
  readonly answersOthers?: boolean;
  /** The page as an incremental run knows it. */
  readonly known?: KnownPage | undefined;
  /** Whether the host of the next request has answered in this visit, if only with its robots.txt. */
  readonly spoke?: boolean;
  /** The task after the redirects of this visit; `task` is as it was delivered. */
  readonly moved?: Task;
  /** Whether a request that may not be repeated has been answered. */
  readonly isSpent?: true;
  /** The session that its requests are made in, if its crawler has one. */
  readonly session?: OpenSession;
}

/** A session that a worker is logged in with. */
export interface OpenSession {
  readonly jar: CookieJar;
  /** Number of the login, among those of this session in this worker. */
  readonly number: number;
}

/** The target of a redirect. */
export interface Move {
  readonly to: string;
  readonly status: number;
  readonly login?: string | undefined;
  /** The `Set-Cookie` lines of the redirecting answer, for the following hops. */
  readonly cookies?: readonly string[];
}

/** Returns the visit after one more redirect. */
export function redirected(visit: Visit, { to, status, login, cookies = [] }: Move): Visit {
  const logins = loginsField(withLogin(loginsOf(visit), to, login));
  const redirects = [...redirectsOf(visit), to];
  const { request, cookies: before } = visit.moved ?? visit.task;
  const all = withCookies(before, urlOf(visit), cookies);
  const met = all === undefined ? {} : { cookies: all };
  const asked = request === undefined ? {} : { request: afterRedirect(request, status) };
  const moved = { ...visit.task, host: hostKeyOf(new URL(to)), redirects, ...logins, ...met, ...asked };
  return { ...visit, answersOthers: false, spoke: moved.host === hostOf(visit), moved };
}

/** Returns the credentials known for the origins of this visit. */
export function loginsOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): Logins | undefined {
  return moved?.logins ?? task.logins;
}

/** Returns the visit as it was at its task's own URL, before any redirects. */
export function restarted({ moved: _, spoke: __, session: ___, isSpent: ____, ...visit }: Visit): Visit {
  const { redirects, cookies: _____, request, ...task } = visit.task;
  if (redirects === undefined) return visit;
  const asked = request === undefined ? {} : { request: asFollowed(request) };
  return { ...visit, answersOthers: false, moved: { ...task, host: hostKeyOf(new URL(task.url)), ...asked } };
}

/** Returns the cookies that the redirects of this visit have set. */
export function cookiesOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): readonly CookieLine[] | undefined {
  return (moved ?? task).cookies;
}

/** Returns the credentials for requesting a URL. */
export function loginOf(visit: Visit, url: string): string | undefined {
  return loginFor(url, loginsOf(visit));
}

/** Returns the URL to request next. */
export function urlOf(visit: Visit): string {
  return redirectsOf(visit).at(-1) ?? visit.task.url;
}

/** Returns the step of the task; nothing for a short crawler. */
export function stepOf({ run, task }: Pick<Visit, 'run' | 'task'>): Step | undefined {
  return run.crawler.step(task.step);
}

/** Returns the maximum attempts of the task. Without a ledger it can't wait for another one, so it gets one. */
export function mostAttempts(visit: Visit): number {
  return visit.release === 0 ? 1 : (stepOf(visit)?.retry?.attempts ?? visit.run.options.maxAttempts);
}

/** Returns the next request, or nothing for a plain GET. */
export function sentBy(visit: Visit): SentRequest | undefined {
  const { request } = visit.moved ?? visit.task;
  return request === undefined ? undefined : sentTo(urlOf(visit), request, visit.task.url);
}

/** Returns the mark of the page that a visit has arrived at: the task's own, unless redirects have led elsewhere. */
export function arrivedMark(visit: Visit, finalUrl: string): string {
  const { task, run } = visit;
  const key = urlKeyOf(canonicalOf(finalUrl), run.options.urlKey);
  const group = groupOfMark(task.mark);
  return markOf(keyWithLogin(key, loginOf(visit, finalUrl)), task.step, digestOf(task.request), group);
}

/** Returns the host of the next request. */
export function hostOf({ task, moved }: Visit): string {
  return moved?.host ?? task.host;
}

/** Returns the URLs that redirects have led to so far, in order. */
export function redirectsOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): readonly string[] {
  return (moved ?? task).redirects ?? [];
}

/** What a request says about its host. */
type HostFindings = Omit<Judgement, 'outcome'>;

/** A page as it arrived from the host or the cache. */
export interface Arrival {
  readonly fetched: FetchedPage;
  readonly fromCache: boolean;
  /** When it was requested, by the worker's clock. */
  readonly askedAt?: number;
  /** Whether a middleware made it, without asking the host. */
  readonly isMade?: true;
  /** Whether a middleware has replaced the host's answer. */
  readonly isChanged?: true;
  /** What the answer says about the host. Default: it is healthy. */
  readonly host?: HostFindings;
}

/** The parts of a record that don't come from a step. */
export interface OwnReading {
  readonly title: string | null;
  /** Parts of the page that the step got only the beginning of. */
  readonly truncated: readonly PagePart[];
  /** The body as the run keeps it; nothing if it keeps none. */
  readonly content?: KeptContent;
}

/** The result of a task's delivery. */
export interface Ending extends Partial<Judgement> {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  /** The host's answer, if there was one. */
  readonly answer?: FetchedPage | undefined;
  readonly askedAt?: number | undefined;
  /** Hash of the body, if it was read. */
  readonly contentHash?: string;
  /** The mark of the page that its redirects led to, if it isn't the task's own. */
  readonly claimed?: string | undefined;
  /** The place in the crawler where its step failed. */
  readonly place?: string | undefined;
  /** Whether other pages can only be found through this one: its step follows links, or it has the next page of a list and its run follows that. */
  readonly leadsOn?: boolean;
  /** See {@link Settlement.leftOut}. */
  readonly leftOut?: Settlement['leftOut'];
  /** See {@link Settlement.input}. */
  readonly input?: string | undefined;
  /** See {@link Settlement.tally}. */
  readonly tally?: Settlement['tally'];
}

/** Returns what the ending of an arrived page says about the answer, where that isn't a healthy page. */
export function aboutAnswer({ host, fetched }: Arrival): Partial<Ending> {
  return host === undefined ? {} : { ...host, status: fetched.status };
}

/** Returns the ending of a page whose crawler failed. */
export function failedStep({ message, reason, place }: StepError): Ending {
  return { outcome: { kind: 'failed', reason, detail: message }, hostAnswered: true, place };
}

/** Returns the record of a page. */
export function doneRecord(
  visit: Visit,
  { fetched, fromCache }: Arrival,
  { title, content, truncated }: OwnReading,
  extract: Extract,
  at: number,
): DoneRecord {
  const { isCut = false, ...kept } = content ?? {};
  const cut = isCut ? [...truncated, 'content' as const] : truncated;
  const redirects = fromCache ? [] : redirectsOf(visit);
  const contentHash = hash('sha256', fetched.body);
  const head = headOf(visit, at, fromCache ? 0 : 1);
  const step = extract.by?.name ?? head.step;
  return {
    ...head,
    step,
    outcome: 'done',
    ...(step === head.step ? {} : { insteadOf: head.step }),
    finalUrl: fetched.finalUrl,
    ...(redirects.length === 0 ? {} : { redirects }),
    status: fetched.status,
    title,
    contentType: mediaTypeOf(fetched.headers['content-type']) ?? null,
    contentHash,
    bytes: fetched.body.byteLength,
    durationMs: Math.round(fetched.durationMs),
    fromCache,
    ...(visit.known?.contentHash === contentHash ? { unchanged: true as const } : {}),
    ...(cut.length === 0 ? {} : { truncated: cut }),
    data: extract.data ?? null,
    ...(extract.items === undefined ? {} : { items: extract.items }),
    ...kept,
  };
}

/** Returns the record of a join, which has no answer of its own. */
export function joinRecord(
  visit: Visit,
  { data, items }: { readonly data: unknown; readonly items: number },
  { at, durationMs }: { readonly at: number; readonly durationMs: number },
): DoneRecord {
  return {
    ...headOf(visit, at, 1),
    outcome: 'done',
    finalUrl: visit.task.url,
    status: 0,
    title: null,
    contentType: null,
    contentHash: '',
    bytes: 0,
    durationMs: Math.round(durationMs),
    fromCache: false,
    data,
    items,
  };
}

/** Returns the record of a task that failed or was skipped; nothing for other outcomes. */
export function endedRecord(visit: Visit, { outcome, status }: Ending, at: number): EndedRecord | undefined {
  if (outcome.kind !== 'failed' && outcome.kind !== 'skipped') return undefined;
  const redirects = redirectsOf(visit);
  return {
    ...headOf(visit, at, 1),
    ...(redirects.length === 0 ? {} : { redirects }),
    outcome: outcome.kind,
    reason: outcome.reason,
    ...askedFrom(visit.task),
    ...(status === undefined ? {} : { status }),
    ...(outcome.detail === undefined ? {} : { error: outcome.detail }),
  };
}

/** Returns the note of a failed attempt; nothing if no attempt was made, or it succeeded. */
export function noteOf(
  visit: Visit,
  { outcome, status, hostAnswered, place }: Ending,
  at: number,
): AttemptNote | undefined {
  const reason = reasonFor(outcome);
  if (reason === undefined || hostAnswered === undefined) return undefined;
  return {
    at,
    worker: visit.worker,
    reason,
    ...(status === undefined ? {} : { status }),
    ...('detail' in outcome && outcome.detail !== undefined ? { error: outcome.detail.slice(0, MAX_NOTE_LENGTH) } : {}),
    ...(place === undefined ? {} : { place: place.slice(0, MAX_NOTE_LENGTH) }),
  };
}

function reasonFor(outcome: Outcome): string | undefined {
  if (outcome.kind === 'retry' || outcome.kind === 'failed') return outcome.reason;
  if (outcome.kind !== 'defer') return undefined;
  return outcome.throttled === true ? outcome.detail : outcome.host?.reason;
}

function headOf({ task, release, state, run, worker }: Visit, at: number, attempt: 0 | 1) {
  return {
    run: task.run,
    task: idOf(task),
    crawler: run.crawler.name,
    version: run.version,
    step: stepOf({ run, task })?.name ?? task.step,
    url: task.url,
    release,
    attempt: state.attempts + attempt,
    worker,
    ...recordedFields(task),
    fetchedAt: new Date(at).toISOString(),
  };
}
