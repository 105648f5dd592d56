import { elapsedMs, hasMaxPages, type RunProgress } from '../ports/runs.ts';

interface SummaryJsonOptions {
  /** Ctrl-C, SIGTERM or a failed write stopped the run early. */
  readonly isInterrupted?: boolean;
}

/** A run's progress or end; see docs/commands.md. */
export interface RunSummary
  extends Pick<
      RunProgress,
      | 'run'
      | 'state'
      | 'discovered'
      | 'duplicate'
      | 'waiting'
      | 'inFlight'
      | 'done'
      | 'skipped'
      | 'failed'
      | 'cancelled'
    >,
    Pick<RunProgress, 'reasons' | 'hostsDown' | 'leftOut' | 'steps' | 'stepFailures' | 'openGroups' | 'bytes'>,
    Pick<RunProgress, 'bytesSaved' | 'pauseReason'> {
  readonly seconds: number;
  readonly pagesPerSecond: number;
  readonly records: number;
  readonly maxPagesReached?: true;
  readonly interrupted?: true;
}

/** The JSON of `crawl` and `produce --wait`, and part of that of `status`. */
export function summaryJson(progress: RunProgress, { isInterrupted = false }: SummaryJsonOptions = {}): RunSummary {
  const { run, state, discovered, duplicate, waiting, inFlight, done, skipped, failed, cancelled, reasons } = progress;
  const { bytes, bytesSaved, leftOut, steps, stepFailures, openGroups, pauseReason } = progress;
  const seconds = Number((elapsedMs(progress) / 1_000).toFixed(3));
  return {
    run,
    state,
    discovered,
    duplicate,
    waiting,
    inFlight,
    done,
    skipped,
    failed,
    cancelled,
    reasons,
    hostsDown: { count: progress.hostsDown.count, named: progress.hostsDown.named },
    leftOut,
    ...(steps === undefined ? {} : { steps }),
    ...(stepFailures === undefined ? {} : { stepFailures }),
    ...(openGroups === undefined ? {} : { openGroups }),
    bytes,
    bytesSaved,
    seconds,
    pagesPerSecond: Number((done / Math.max(seconds, 0.001)).toFixed(2)),
    records: done,
    ...(hasMaxPages(progress) ? { maxPagesReached: true } : {}),
    ...(isInterrupted ? { interrupted: true } : {}),
    ...(state === 'paused' && pauseReason !== undefined ? { pauseReason } : {}),
  };
}
