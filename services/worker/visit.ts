import { hash } from 'node:crypto';
import type { StepResult } from '../../shared/crawler/crawler.ts';
import { mediaTypeOf, type Page } from '../../shared/crawler/page.ts';
import type { FetchedPage } from '../../shared/fetcher.ts';
import type { AttemptNote, TaskState } from '../../shared/frontier.ts';
import type { DoneRecord, EndedRecord } from '../../shared/record.ts';
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
}

/** A page that came, from the host or from the cache. */
export interface Arrival {
  readonly fetched: FetchedPage;
  readonly fromCache: boolean;
}

/** What is known when a task's delivery ends. */
export interface Ending {
  readonly outcome: Outcome;
  readonly hostAnswered?: boolean | undefined;
  readonly status?: number | undefined;
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
  return {
    ...headOf(visit, at, fromCache ? 0 : 1),
    outcome: 'done',
    finalUrl: withoutCredentials(fetched.finalUrl),
    status: fetched.status,
    title: page.title,
    contentType: mediaTypeOf(fetched.headers['content-type']) ?? null,
    contentHash: hash('sha256', fetched.body),
    bytes: fetched.body.byteLength,
    durationMs: Math.round(fetched.durationMs),
    fromCache,
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
