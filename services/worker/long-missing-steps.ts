import { deadLetterOf } from '../../shared/ports/dead-letter.ts';
import type { Frontier } from '../../shared/ports/frontier/frontier.ts';
import { nameOf } from '../../shared/ports/frontier/frontier.ts';
import { type Groups, ownerOf } from '../../shared/ports/frontier/groups.ts';
import { type MissingSteps, STEP_MISSING_MS } from '../../shared/ports/frontier/missing-steps.ts';
import type { Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { HOUR_MS } from '../../shared/task/durations.ts';
import type { Task } from '../../shared/task/task/task.ts';
import type { FailureLines } from './failure-lines.ts';

interface LongMissingStepsOptions {
  readonly frontier: Pick<Frontier, 'settle'> & Pick<Groups, 'owner'> & MissingSteps;
  readonly transport: Pick<Transport, 'publish'>;
  readonly failures?: Pick<FailureLines, 'ofReleased'>;
  readonly onSinkFailure: (reason: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Fails tasks whose step no worker has had for six hours. */
export class LongMissingSteps {
  readonly #options: LongMissingStepsOptions;

  constructor(options: LongMissingStepsOptions) {
    this.#options = options;
  }

  /**
   * Notes that this worker doesn't have the step of a task. If no worker has had it for that long, fails the task: records, dead-letters
   * and settles it. Returns `false` if the task must be left to others.
   */
  async fail(task: Task, release: number, problem: string): Promise<boolean> {
    const { frontier, transport, failures, onSinkFailure, clock, log } = this.#options;
    const name = nameOf({ release, task });
    const missing = await frontier.missing(task.run, name);
    if (missing === undefined || missing.forMs < STEP_MISSING_MS) return false;
    const { state } = missing;
    const error = `no worker has had its step for ${STEP_MISSING_MS / HOUR_MS} h: ${problem}`;
    try {
      await failures?.ofReleased({ verdict: 'go', task, release, state, problem: error }, 'step');
    } catch (thrown: unknown) {
      onSinkFailure(messageOf(thrown));
      return false;
    }
    const owner = await ownerOf(task, frontier);
    const letter = deadLetterOf(task, state, { reason: 'step', error, attempts: [], owner, at: clock.now() });
    const [outcome] = await transport.publish([letter]);
    if (outcome !== 'confirmed') return false;
    await frontier.settle(task.run, name, { outcome: { kind: 'failed', reason: 'step', detail: error } });
    log.warn({ url: task.url, reason: 'step', error }, 'failed');
    return true;
  }
}
