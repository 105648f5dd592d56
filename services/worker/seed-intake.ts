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
  /**
   * Returns the step that a URL starts at, by the patterns of the crawler with this name. Throws a ConfigurationError if this worker has no
   * such crawler.
   */
  readonly startOf: (crawler: string, href: string) => string;
  readonly clock: Clock;
}

/**
 * Takes in messages that other programs published: a task without a release number is a seed. Each one joins its run, or the run `amqp`. It
 * counts as a producer while it is being offered, so the run is sealed whenever it is empty.
 *
 * The producer's name is derived from the seed's content. If the worker is killed, the worker that gets the seed next uses the same name,
 * and completes the offer. A seed that names no step starts at the one that its crawler's patterns choose.
 */
export class SeedIntake {
  readonly #options: SeedIntakeOptions;

  constructor(options: SeedIntakeOptions) {
    this.#options = options;
  }

  /** @throws ConfigurationError if this worker doesn't have the run's crawler: the seed is for other workers */
  async take(seed: Omit<Task, 'run'> & { readonly run: string | undefined }): Promise<Handling> {
    const { frontier, runs, rules, defaults, startOf, clock } = this.#options;
    const { run = FOREIGN_RUN, url: href, step, mark } = seed;
    const producer = `seed:${fingerprintOf(JSON.stringify([href, mark]))}`;
    const own = run === FOREIGN_RUN ? withoutRunJoins(defaults) : defaults;
    const { how, options } = await runs.open(run, own, producer);
    // A cancelled run takes no seeds, so the message is dropped.
    if (how === 'cancelled') return 'ack';
    const url = { href, canonical: canonicalOf(href), host: hostOfMark(href) };
    const offerRules = { rules, urlKey: options.urlKey, logins: seed.logins };
    const start = step === FIRST_STEP ? startOf(options.crawler, href) : step;
    const offer = offerOf(url, offerRules, { ...carriedFields(seed), step: start });
    const result = await frontier.offer(run, [offer], { limit: options.limit });
    if ('refused' in result) {
      // The message is redelivered at once; the run stays open until then.
      if (result.refused === 'full') await clock.sleep(FULL_NAP_MS);
      return 'return';
    }
    await runs.seal(run, producer);
    return 'ack';
  }
}
