import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { recordItems } from '../../../shared/crawler/items/record-items.ts';
import { groupMaterial, TOO_LARGE, writeInput } from '../../../shared/crawler/joins/group-material.ts';
import { JoinRun } from '../../../shared/crawler/joins/join-run.ts';
import type { Join } from '../../../shared/crawler/joins/joins.ts';
import { runMaterial } from '../../../shared/crawler/joins/run-material.ts';
import type { BodyBudget, PageHold } from '../../../shared/ports/fetcher.ts';
import { nameOf } from '../../../shared/ports/frontier/frontier.ts';
import { type GroupInputs, type Groups, MAX_GROUP_BYTES } from '../../../shared/ports/frontier/groups.ts';
import type { DoneRecord } from '../../../shared/ports/record.ts';
import type { Runs } from '../../../shared/ports/runs.ts';
import type { RecordSource } from '../../../shared/ports/sink.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { OF_RUN } from '../../../shared/task/group/group.ts';
import { isTakenInGroup, type PlannedJoin } from '../../../shared/task/group/plan.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { underPolicy } from '../../../shared/task/task/retry-policy.ts';
import type { Steps } from '../pipeline/steps.ts';
import { type Ending, failedStep, joinRecord, type Visit } from '../pipeline/visit.ts';

export interface JoinWorkOptions {
  readonly frontier: Groups;
  /** Memory budget, which the data a join receives from its group counts towards. */
  readonly fetcher: Pick<BodyBudget, 'reserve'>;
  readonly progressOf: Runs['progress'];
  /** Opens the records that all workers have stored; the caller must close them. */
  readonly openRecords: () => Promise<RecordSource>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The result of a join. `input` is the data for the joins that take this one's result, written by {@link writeInput}; undefined if none does. */
type Made =
  | { readonly record: DoneRecord; readonly input: ReturnType<typeof writeInput> | undefined }
  | { readonly ending: Ending };

/** Runs joins, which make records from their groups. */
export class JoinWork {
  readonly #options: JoinWorkOptions;
  readonly #steps: Steps;

  constructor(options: JoinWorkOptions, steps: Steps) {
    this.#options = options;
    this.#steps = steps;
  }

  /** Makes the record of a join, or returns `stale` if its release no longer counts. The data from its group count as memory until `hold` ends. */
  async make(visit: Visit, hold: PageHold): Promise<Made | 'stale'> {
    const { clock } = this.#options;
    const { run, task } = visit;
    const plan = run.options.joins;
    const planned = plan?.joins[task.step];
    const join = run.crawler.join(task.step);
    if (planned === undefined || join === undefined) throw new Error(`run ${task.run} has no join ${task.step}`);
    const material = await this.#materialOf(visit, planned, hold);
    if (material === 'stale') return 'stale';
    if ('outcome' in material) return { ending: material };
    const began = clock.monotonic();
    try {
      const call = new JoinRun(run.crawler, join, run.args, material);
      const items = await this.#steps.call(
        {
          about: { crawler: run.options.crawler, step: join.name, isJoin: true },
          url: task.url,
          timeoutMs: join.timeoutMs,
          limit: 'timeoutMs of the join',
        },
        () => call.begin(),
        (result) => call.end(result),
      );
      const made = recordItems(items);
      const durationMs = Math.round(clock.monotonic() - began);
      const record = joinRecord(visit, made, { at: clock.now(), durationMs });
      const isTaken = plan !== undefined && isTakenInGroup(plan, task.step);
      return { record, input: isTaken ? writeInput(task, made) : undefined };
    } catch (error: unknown) {
      if (!(error instanceof StepError)) throw error;
      return { ending: { outcome: this.#underRules(visit, join, failedStep(error).outcome) } };
    }
  }

  /** Returns the outcome of a failed attempt under the join's own rules. Without rules, the failure is final. */
  #underRules({ state, run }: Visit, { retry }: Join, outcome: Outcome): Outcome {
    if (retry === undefined) return outcome;
    const maxAttempts = retry.attempts ?? run.options.maxAttempts;
    const about = { attempts: state.attempts, maxAttempts, random: this.#options.random() };
    return underPolicy(outcome, { when: 'all', ...retry }, about);
  }

  async #materialOf(visit: Visit, planned: PlannedJoin, hold: PageHold) {
    const { frontier, fetcher, progressOf, openRecords } = this.#options;
    const { run, task } = visit;
    if (task.join?.group === OF_RUN) {
      const progress = await progressOf(task.run);
      return progress === undefined ? 'stale' : runMaterial(run.crawler, progress, openRecords);
    }
    const share = await fetcher.reserve(MAX_GROUP_BYTES);
    hold.keep(() => share.close());
    const inputs = await frontier.inputs(task.run, nameOf(visit));
    if (inputs === 'stale') return inputs;
    share.settle(bytesOf(inputs));
    if (inputs.isTooLarge)
      return { outcome: { kind: 'failed', reason: 'too_large', detail: TOO_LARGE } } satisfies Ending;
    return groupMaterial(task, inputs, planned, run.crawler);
  }
}

function bytesOf({ inputs }: GroupInputs): number {
  return Object.values(inputs).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
