import { hash } from 'node:crypto';
import type { StepResult } from '../../shared/crawler/crawler.ts';
import { mediaTypeOf, type Page } from '../../shared/crawler/page.ts';
import type { FetchedPage } from '../../shared/fetcher.ts';
import type { AttemptNote, Moved, TaskState } from '../../shared/frontier.ts';
import type { DoneRecord, EndedRecord } from '../../shared/record.ts';
import type { Judgement } from '../../shared/task/judgement.ts';
import type { KnownPage } from '../../shared/task/known-page.ts';
import type { Outcome } from '../../shared/task/outcome.ts';
import { idOf, type Task } from '../../shared/task/task.ts';
import { withoutCredentials } from '../../shared/task/url.ts';
import type { WorkedRun } from './run-directory.ts';

/** One admitted task on its way through the pipeline. */
export interface Visit {
  readonly task: Task;
  /** 0 when the store has lost the run: then there is no ledger to settle in. */
  readonly release: number;
  readonly state: TaskState;
  readonly run: WorkedRun;
  readonly worker: string;
  /** What an incremental run knows of the page. */
  readonly known?: KnownPage | undefined;
  /** Where redirects have led so far; `task` says where they had led when it came. */
  readonly moved?: Moved;
}

/** A visit that has been redirected once more. */
export function redirected(visit: Visit, to: string): Visit {
  return { ...visit, moved: { host: new URL(to).host, redirects: [...redirectsOf(visit), to] } };
}

/** The URL that is asked next. */
export function urlOf(visit: Visit): string {
  return redirectsOf(visit).at(-1) ?? visit.task.url;
}

/** The host that is asked next. */
export function hostOf({ task, moved }: Visit): string {
  return moved?.host ?? task.host;
}

/** The URLs that redirects have led to, in order. */
export function redirectsOf({ task, moved }: Pick<Visit, 'task' | 'moved'>): readonly string[] {
  return moved?.redirects ?? task.redirects ?? [];
}

/** A page that came, from the host or from the cache. */
export interface Arrival {
  readonly fetched: FetchedPage;
  readonly fromCache: boolean;
  /** When it was asked for, by the worker's clock. */
  readonly askedAt?: number;
}

/** What is known when a task's delivery ends. */
export interface Ending extends Partial<Judgement> {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  /** What the host said, if it said anything. */
  readonly answer?: FetchedPage | undefined;
  readonly askedAt?: number | undefined;
  /** Of the body, if it was read. */
  readonly contentHash?: string;
  /** The mark of the page that its redirects led to, if it isn't the task's own. */
  readonly claimed?: string | undefined;
}

/** The record of a page. */
export function doneRecord(
  visit: Visit,
  { fetched, fromCache }: Arrival,
  page: Page,
  result: StepResult,
  at: number,
): DoneRecord {
  const { content } = visit.run.options;
  const redirects = fromCache ? [] : redirectsOf(visit).map(withoutCredentials);
  const contentHash = hash('sha256', fetched.body);
  return {
    ...headOf(visit, at, fromCache ? 0 : 1),
    outcome: 'done',
    finalUrl: withoutCredentials(fetched.finalUrl),
    ...(redirects.length === 0 ? {} : { redirects }),
    status: fetched.status,
    title: page.title,
    contentType: mediaTypeOf(fetched.headers['content-type']) ?? null,
    contentHash,
    bytes: fetched.body.byteLength,
    durationMs: Math.round(fetched.durationMs),
    fromCache,
    ...(visit.known?.contentHash === contentHash ? { unchanged: true as const } : {}),
    data: result.data ?? null,
    ...(content === 'none' ? {} : { content: content === 'html' ? page.text : page.readableText }),
  };
}

/** The line that a task which ended without a page leaves among the records. */
export function endedRecord(visit: Visit, { outcome, status }: Ending, at: number): EndedRecord | undefined {
  if (outcome.kind !== 'failed' && outcome.kind !== 'skipped') return undefined;
  return {
    ...headOf(visit, at, 1),
    outcome: outcome.kind,
    reason: outcome.reason,
    ...(status === undefined ? {} : { status }),
    ...(outcome.detail === undefined ? {} : { error: withoutCredentials(outcome.detail) }),
  };
}

/** The note of a failed attempt; nothing if none was made, or it went well. */
export function noteOf(visit: Visit, { outcome, status, hostAnswered }: Ending, at: number): AttemptNote | undefined {
  const reason = reasonFor(outcome);
  if (reason === undefined || hostAnswered === undefined) return undefined;
  return {
    at,
    worker: visit.worker,
    reason,
    ...(status === undefined ? {} : { status }),
    ...('detail' in outcome && outcome.detail !== undefined ? { error: withoutCredentials(outcome.detail) } : {}),
  };
}

function reasonFor(outcome: Outcome): string | undefined {
  if (outcome.kind === 'retry' || outcome.kind === 'failed') return outcome.reason;
  return outcome.kind === 'defer' ? outcome.host?.reason : undefined;
}

function headOf({ task, release, state, run, worker }: Visit, at: number, attempt: 0 | 1) {
  return {
    run: task.run,
    task: idOf(task),
    crawler: run.options.crawler,
    step: task.step,
    url: withoutCredentials(task.url),
    release,
    attempt: state.attempts + attempt,
    worker,
    depth: task.depth,
    fetchedAt: new Date(at).toISOString(),
  };
}
