import { FULL_NAP_MS } from '../../shared/loops/repeated-offer.ts';
import type { Frontier } from '../../shared/ports/frontier/frontier.ts';
import type { RunOptions, Runs } from '../../shared/ports/runs.ts';
import type { Handling } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withoutRunJoins } from '../../shared/task/group/without-run-joins.ts';
import { carriedFields } from '../../shared/task/task/form.ts';
import { offerOf } from '../../shared/task/task/offer.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import type { Task } from '../../shared/task/task/task.ts';
import { FIRST_STEP, fingerprintOf, hostOfMark } from '../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../shared/task/url/url.ts';

/** The run of seeds that don't name one. */
export const FOREIGN_RUN = 'amqp';

interface SeedIntakeOptions {
  readonly frontier: Frontier;
  readonly runs: Runs;
  readonly rules: readonly RoutingRule[];
  readonly defaults: RunOptions;
  /** Where a URL starts by the crawler of this name. Throws a ConfigurationError if there is none here. */
  readonly startOf: (crawler: string, href: string) => string;
  readonly clock: Clock;
}

/**
 * Takes in messages that other programs published: a task without a release number is a seed. Each one joins its run, or the
 * run `amqp`, as a producer for as long as the offer takes, so the run counts as sealed whenever it is empty.
 *
 * The producer's name is derived from the seed's content: if the worker is killed, the worker that gets the seed next uses the
 * same name, and finishes what the first one began. A seed that names no step starts where its crawler's patterns say.
 */
export class SeedIntake {
  readonly #options: SeedIntakeOptions;

  constructor(options: SeedIntakeOptions) {
    this.#options = options;
  }

  /** @throws ConfigurationError if the run's crawler isn't here: it is for other workers */
  async take(seed: Omit<Task, 'run'> & { readonly run: string | undefined }): Promise<Handling> {
    const { frontier, runs, rules, defaults, startOf, clock } = this.#options;
    const { run = FOREIGN_RUN, url: href, step, mark } = seed;
    const producer = `seed:${fingerprintOf(JSON.stringify([href, mark]))}`;
    const own = run === FOREIGN_RUN ? withoutRunJoins(defaults) : defaults;
    const { how, options } = await runs.open(run, own, producer);
    // A cancelled run takes no seeds: the message has nowhere to go.
    if (how === 'cancelled') return 'ack';
    const url = { href, canonical: canonicalOf(href), host: hostOfMark(href) };
    const offerRules = { rules, urlKey: options.urlKey, logins: seed.logins };
    const start = step === FIRST_STEP ? startOf(options.crawler, href) : step;
    const offer = offerOf(url, offerRules, { ...carriedFields(seed), step: start });
    const result = await frontier.offer(run, [offer], { limit: options.limit });
    if ('refused' in result) {
      // It is redelivered at once; the run stays open until then.
      if (result.refused === 'full') await clock.sleep(FULL_NAP_MS);
      return 'return';
    }
    await runs.seal(run, producer);
    return 'ack';
  }
}
