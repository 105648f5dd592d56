import type { Frontier } from '../../shared/frontier.ts';
import type { RunOptions, Runs } from '../../shared/runs.ts';
import { markOf } from '../../shared/task/fingerprint.ts';
import { type RoutingRule, routeOf } from '../../shared/task/routing.ts';
import type { Task } from '../../shared/task/task.ts';
import { canonicalOf } from '../../shared/task/url.ts';
import { urlKeyOf } from '../../shared/task/url-key.ts';
import type { Handling } from '../../shared/transport.ts';

/** The run of seeds that name none. */
export const STRANGERS_RUN = 'amqp';

interface SeedIntakeOptions {
  readonly frontier: Frontier;
  readonly runs: Runs;
  readonly rules: readonly RoutingRule[];
  readonly defaults: RunOptions;
  readonly worker: string;
}

/**
 * Takes in messages that some other AMQP client published: a task without a release number is a seed. It joins its run,
 * or one named `amqp`, for as long as the offer takes, so that this run counts as sealed whenever it is empty.
 */
export class SeedIntake {
  readonly #options: SeedIntakeOptions;
  #count = 0;

  constructor(options: SeedIntakeOptions) {
    this.#options = options;
  }

  async take(seed: Omit<Task, 'run'> & { readonly run: string | undefined }): Promise<Handling> {
    const { frontier, runs, rules, defaults, worker } = this.#options;
    const { run = STRANGERS_RUN, ...unmarked } = seed;
    const producer = `${worker}:${++this.#count}`;
    const { how, options } = await runs.open(run, defaults, producer);
    // A cancelled run takes no seeds: the message has nowhere to go.
    if (how === 'cancelled') return 'ack';
    const { url, step } = unmarked;
    const mark = markOf(urlKeyOf(canonicalOf(url), options.urlKey), step);
    const result = await frontier.offer(run, [{ ...unmarked, mark, ...routeOf(url, rules) }]);
    await runs.seal(run, producer);
    return 'refused' in result ? 'return' : 'ack';
  }
}
