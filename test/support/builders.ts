import type { DoneRecord, EndedRecord } from '../../shared/ports/record.ts';
import type { RunOptions, RunProgress } from '../../shared/ports/runs.ts';
import { taskIdOf } from '../../shared/task/url/fingerprint.ts';

/** Options of a run that nothing slows down. */
export const FAST_RUN: RunOptions = {
  crawler: 'page',
  dedup: 'run',
  intervalMs: 0,
  maxAttempts: 3,
  follow: false,
  maxDepth: 3,
  content: 'none',
  incremental: false,
  recrawlAfterMs: 0,
};

/** Builds the record of a page that is done. */
export function doneRecord(url: string, extra: Partial<DoneRecord> = {}): DoneRecord {
  return {
    run: 'r',
    task: taskIdOf('r', url),
    outcome: 'done',
    crawler: 'page',
    step: '',
    url,
    release: 1,
    attempt: 1,
    worker: 'w-1',
    depth: 0,
    fetchedAt: '2026-11-21T12:00:00.000Z',
    finalUrl: url,
    status: 200,
    title: 'A page',
    contentType: 'text/html',
    contentHash: 'abc',
    bytes: 10,
    durationMs: 5,
    fromCache: false,
    data: null,
    ...extra,
  };
}

/** Builds the record of a task that failed. */
export function failedRecord(url: string, extra: Partial<EndedRecord> = {}): EndedRecord {
  const { run, task, crawler, step, release, attempt, worker, depth, fetchedAt } = doneRecord(url);
  return {
    run,
    task,
    crawler,
    step,
    url,
    release,
    attempt,
    worker,
    depth,
    fetchedAt,
    outcome: 'failed',
    reason: 'http_4xx',
    ...extra,
  };
}

/** Builds the progress of a run; by default it is running and has no tasks. */
export function progressOf(extra: Partial<RunProgress> = {}): RunProgress {
  return {
    run: 'r',
    incarnation: '1',
    state: 'running',
    options: FAST_RUN,
    sealed: true,
    discovered: 0,
    duplicate: 0,
    waiting: 0,
    inFlight: 0,
    done: 0,
    skipped: 0,
    failed: 0,
    cancelled: 0,
    leftOut: { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 },
    reasons: { failed: {}, skipped: {} },
    hostsDown: { count: 0, named: [] },
    bytes: 0,
    bytesSaved: 0,
    startedAt: 0,
    readAt: 10_000,
    producers: { open: 0, lost: 0, silent: [] },
    ...extra,
  };
}
