import { hash } from 'node:crypto';
import { askedFrom } from '../../shared/crawler/file-step.ts';
import { untriedError } from '../../shared/ports/dead-letter.ts';
import type { ReleasedTask } from '../../shared/ports/frontier/frontier.ts';
import type { EndedRecord } from '../../shared/ports/record.ts';
import type { Runs } from '../../shared/ports/runs.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { Delivery } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { INITIAL_FIELDS, recordedFields } from '../../shared/task/task/form.ts';
import { shownMessage } from '../../shared/task/task/message.ts';
import type { FailedReason } from '../../shared/task/task/outcome.ts';
import { idOf, RUN_ID, runNamedBy } from '../../shared/task/task/task.ts';
import { FIRST_STEP, malformedTextOf } from '../../shared/task/url/fingerprint.ts';
import { FOREIGN_RUN } from './seed-intake.ts';

interface FailureLinesOptions {
  readonly sink: Sink;
  readonly runs: Pick<Runs, 'progress'>;
  /** The crawler named in records of a run that the store doesn't know. */
  readonly crawler: string;
  readonly worker: string;
  readonly clock: Clock;
}

/**
 * Records tasks that failed before any worker had them in hand, so that `records --failed` still lists them after their dead letters have
 * expired. Rejects when the sink does; the caller must then try again.
 */
export class FailureLines {
  readonly #options: FailureLinesOptions;
  #last: { readonly run: string; readonly crawler: string } | undefined;

  constructor(options: FailureLinesOptions) {
    this.#options = options;
  }

  /** Records a task that failed on release: past its deadline, malformed, or on a host that is down. */
  async ofReleased({ task, release, state, problem }: ReleasedTask, reason: FailedReason): Promise<void> {
    const { run, url, step } = task;
    const why = problem ?? untriedError(reason, state);
    const error = why === undefined ? {} : { error: why };
    const attempt = state.attempts;
    const about = { ...error, ...askedFrom(task), ...recordedFields(task) };
    await this.#put({ run, task: idOf(task), step, url, release, attempt, reason, ...about });
  }

  /**
   * Records a message that isn't a task. It counts in no run. The record goes to the run that its id names, otherwise to the run of foreign
   * messages.
   */
  async ofMessage({ id, body }: Pick<Delivery, 'id' | 'body'>, problem: string): Promise<void> {
    const named = runNamedBy(id);
    const run = named !== undefined && RUN_ID.test(named) ? named : FOREIGN_RUN;
    const task = `${run}:${hash('sha256', body).slice(0, 32)}`;
    const url = malformedTextOf(shownMessage(new TextDecoder().decode(body)));
    const nothing = { step: FIRST_STEP, release: 0, attempt: 0, ...recordedFields(INITIAL_FIELDS) };
    await this.#put({ run, task, url, reason: 'malformed', error: problem, ...nothing });
  }

  async #put(line: Omit<EndedRecord, 'outcome' | 'crawler' | 'worker' | 'fetchedAt'>): Promise<void> {
    const { sink, worker, clock } = this.#options;
    const crawler = await this.#crawlerOf(line.run);
    await sink.put({
      ...line,
      outcome: 'failed',
      crawler,
      worker,
      fetchedAt: new Date(clock.now()).toISOString(),
    });
  }

  /** Returns a run's crawler. A run's options never change, so it is looked up once, even if a million of its tasks fail. */
  async #crawlerOf(run: string): Promise<string> {
    if (this.#last?.run !== run) {
      const progress = await this.#options.runs.progress(run);
      if (progress === undefined) return this.#options.crawler;
      this.#last = { run, crawler: progress.options.crawler };
    }
    return this.#last.crawler;
  }
}
