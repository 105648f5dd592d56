import { hash } from 'node:crypto';
import { mediaTypeOf, type Page } from '../../../shared/crawler/page.ts';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import type { AttemptNote, Settlement, TaskState } from '../../../shared/ports/frontier.ts';
import type { DoneRecord, EndedRecord } from '../../../shared/ports/record.ts';
import { recordedFields } from '../../../shared/task/task/form.ts';
import type { Judgement } from '../../../shared/task/task/judgement.ts';
import type { KnownPage } from '../../../shared/task/task/known-page.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import type { PagePart } from '../../../shared/task/task/page-limits.ts';
import { idOf, type Task } from '../../../shared/task/task/task.ts';
import { type Logins, loginFor, loginsField, withLogin } from '../../../shared/task/url/logins.ts';
import type { WorkedRun } from '../run-directory.ts';
import type { Extract, StepError } from './steps.ts';

/** Characters kept of an error in an attempt's note. */
const MAX_NOTE_LENGTH = 500;

/** One admitted task on its way through the pipeline. */
export interface Visit {
  readonly task: Task;
  /** 0 if the store has lost the run: there is then no ledger to settle in. */
  readonly release: number;
  /** Identifies the visit at the host gate; unique to the delivery, even if the store has lost the run. */
  readonly holder: string;
  readonly state: TaskState;
  readonly run: WorkedRun;
  readonly worker: string;
  /** See {@link Admission}; about the host that the task was admitted for. */
  readonly answersOthers?: boolean;
  /** What an incremental run knows of the page. */
  readonly known?: KnownPage | undefined;
  /** The host of the next request has answered in this visit, if only with its robots.txt. */
  readonly spoke?: boolean;
  /** The task after the redirects of this visit; `task` is as it was delivered. */
  readonly moved?: Task;
}

/** The visit after one more redirect. */
export function redirected(visit: Visit, to: string, login?: string): Visit {
  const logins = loginsField(withLogin(loginsOf(visit), to, login));
  const redirects = [...redirectsOf(visit), to];
  const moved = { ...visit.task, host: new URL(to).host, redirects, ...logins };
  return { ...visit, answersOthers: false, spoke: moved.host === hostOf(visit), moved };
}

/** The credentials known for the origins of this visit. */
export function loginsOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): Logins | undefined {
  return moved?.logins ?? task.logins;
}

/** The credentials that a URL is requested with. */
export function loginOf(visit: Visit, url: string): string | undefined {
  return loginFor(url, loginsOf(visit));
}

/** The URL to request next. */
export function urlOf(visit: Visit): string {
  return redirectsOf(visit).at(-1) ?? visit.task.url;
}

/** The host of the next request. */
export function hostOf({ task, moved }: Visit): string {
  return moved?.host ?? task.host;
}

/** The URLs that redirects have led to so far, in order. */
export function redirectsOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): readonly string[] {
  return moved?.redirects ?? task.redirects ?? [];
}

/** A page as it arrived from the host or the cache. */
export interface Arrival {
  readonly fetched: FetchedPage;
  readonly fromCache: boolean;
  /** When it was requested, by the worker's clock. */
  readonly askedAt?: number;
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
  /** Other pages are found by it alone: its step follows links, or it has the next page of a list, and its run follows that. */
  readonly leadsOn?: boolean;
  /** See {@link Settlement.leftOut}. */
  readonly leftOut?: Settlement['leftOut'];
  /** See {@link Settlement.tally}. */
  readonly tally?: Settlement['tally'];
}

/** The ending of a page whose crawler failed. */
export function failedStep({ message, reason }: StepError): Ending {
  return { outcome: { kind: 'failed', reason, detail: message }, hostAnswered: true };
}

/** The record of a page. */
export function doneRecord(
  visit: Visit,
  { fetched, fromCache }: Arrival,
  page: Page,
  extract: Extract,
  { at, truncated }: { readonly at: number; readonly truncated: readonly PagePart[] },
): DoneRecord {
  const { content } = visit.run.options;
  const redirects = fromCache ? [] : redirectsOf(visit);
  const contentHash = hash('sha256', fetched.body);
  return {
    ...headOf(visit, at, fromCache ? 0 : 1),
    outcome: 'done',
    finalUrl: fetched.finalUrl,
    ...(redirects.length === 0 ? {} : { redirects }),
    status: fetched.status,
    title: page.title,
    contentType: mediaTypeOf(fetched.headers['content-type']) ?? null,
    contentHash,
    bytes: fetched.body.byteLength,
    durationMs: Math.round(fetched.durationMs),
    fromCache,
    ...(visit.known?.contentHash === contentHash ? { unchanged: true as const } : {}),
    ...(truncated.length === 0 ? {} : { truncated }),
    data: extract.data ?? null,
    ...(extract.items === undefined ? {} : { items: extract.items }),
    ...(content === 'none' ? {} : { content: content === 'html' ? page.text : page.readableText }),
  };
}

/** The record of a task that failed or was skipped; nothing for other outcomes. */
export function endedRecord(visit: Visit, { outcome, status }: Ending, at: number): EndedRecord | undefined {
  if (outcome.kind !== 'failed' && outcome.kind !== 'skipped') return undefined;
  return {
    ...headOf(visit, at, 1),
    outcome: outcome.kind,
    reason: outcome.reason,
    ...(status === undefined ? {} : { status }),
    ...(outcome.detail === undefined ? {} : { error: outcome.detail }),
  };
}

/** The note of a failed attempt; nothing if no attempt was made, or it succeeded. */
export function noteOf(visit: Visit, { outcome, status, hostAnswered }: Ending, at: number): AttemptNote | undefined {
  const reason = reasonFor(outcome);
  if (reason === undefined || hostAnswered === undefined) return undefined;
  return {
    at,
    worker: visit.worker,
    reason,
    ...(status === undefined ? {} : { status }),
    ...('detail' in outcome && outcome.detail !== undefined ? { error: outcome.detail.slice(0, MAX_NOTE_LENGTH) } : {}),
  };
}

function reasonFor(outcome: Outcome): string | undefined {
  if (outcome.kind === 'retry' || outcome.kind === 'failed') return outcome.reason;
  if (outcome.kind !== 'defer') return undefined;
  return outcome.throttled === true ? outcome.detail : outcome.host?.reason;
}

/** How far a visit came, as it is settled. */
export function wayOf({ moved, spoke = false }: Visit): Pick<Settlement, 'moved' | 'hostSpoke'> {
  return { ...(moved === undefined ? {} : { moved }), ...(spoke ? { hostSpoke: true } : {}) };
}

function headOf({ task, release, state, run, worker }: Visit, at: number, attempt: 0 | 1) {
  return {
    run: task.run,
    task: idOf(task),
    crawler: run.options.crawler,
    step: run.crawler.step(task.step)?.name ?? task.step,
    url: task.url,
    release,
    attempt: state.attempts + attempt,
    worker,
    ...recordedFields(task),
    fetchedAt: new Date(at).toISOString(),
  };
}
