import {
  type Admission,
  type Claims,
  type Frontier,
  type LinkTally,
  nameOf,
  type Offer,
  type OfferOptions,
  type OfferResult,
  type Release,
  type ReleaseName,
  type ReleaseOptions,
  type Settlement,
  type SettleReply,
} from '../../../shared/ports/frontier/frontier.ts';
import type { HandOvers, QueuedLeases } from '../../../shared/ports/frontier/queued-leases.ts';
import type { FailedReason } from '../../../shared/task/task/outcome.ts';

interface NumberedOptions extends Omit<OfferOptions, 'parent'> {
  readonly parent?: number;
  /** What the parent has offered before; by default nothing. */
  readonly tally?: LinkTally;
}

/**
 * A frontier that numbers its releases 1, 2, 3 in each run, in the order in which they were given out, so that tests can say
 * which one they mean. A number that was never given out stands for a release that the frontier doesn't know.
 */
export class NumberedFrontier {
  readonly #frontier: Frontier & Claims & QueuedLeases & HandOvers;
  readonly #names = new Map<string, ReleaseName[]>();

  constructor(frontier: Frontier & Claims & QueuedLeases & HandOvers) {
    this.#frontier = frontier;
  }

  /** The frontier's own name of a release. */
  nameOf(run: string, number: number): ReleaseName {
    return this.#names.get(run)?.[number - 1] ?? { release: number, mark: 'http://never.test/' };
  }

  async release(options: ReleaseOptions): Promise<Release> {
    const answer = await this.#frontier.release(options);
    return { ...answer, tasks: answer.tasks.map((task) => ({ ...task, release: this.#number(task) })) };
  }

  async offer(
    run: string,
    tasks: readonly Offer[],
    { parent, tally = { stamp: 'first', links: 0 }, ...options }: NumberedOptions = {},
  ): Promise<OfferResult> {
    const from = parent === undefined ? {} : { parent: { ...this.nameOf(run, parent), tally } };
    return await this.#frontier.offer(run, tasks, { ...options, ...from });
  }

  async queued(run: string, numbers: readonly number[]): Promise<void> {
    await this.#frontier.queued(run, this.#namesOf(run, numbers));
  }

  async handed(run: string, numbers: readonly number[]): Promise<void> {
    await this.#frontier.handed(run, this.#namesOf(run, numbers));
  }

  async renew(run: string, numbers: readonly number[]): Promise<void> {
    await this.#frontier.renew(run, this.#namesOf(run, numbers));
  }

  async admit(run: string, number: number, worker: string): Promise<Admission> {
    return await this.#frontier.admit(run, this.nameOf(run, number), worker);
  }

  async settle(run: string, number: number, settlement: Settlement): Promise<SettleReply> {
    return await this.#frontier.settle(run, this.nameOf(run, number), settlement);
  }

  async fail(run: string, numbers: readonly number[], reason: FailedReason): Promise<void> {
    await this.#frontier.fail(run, this.#namesOf(run, numbers), reason);
  }

  async claim(run: string, number: number, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    return await this.#frontier.claim(run, this.nameOf(run, number), mark);
  }

  async isTaken(run: string, number: number, mark: string): Promise<boolean> {
    return await this.#frontier.isTaken(run, this.nameOf(run, number), mark);
  }

  async reap(): Promise<number> {
    return await this.#frontier.reap();
  }

  async drain(): Promise<number> {
    return await this.#frontier.drain();
  }

  async endQueued(run: string, from?: string): ReturnType<QueuedLeases['endQueued']> {
    return await this.#frontier.endQueued(run, from);
  }

  #number(released: Release['tasks'][number]): number {
    const { run } = released.task;
    const names = this.#names.get(run) ?? [];
    this.#names.set(run, names);
    return names.push(nameOf(released));
  }

  #namesOf(run: string, numbers: readonly number[]): ReleaseName[] {
    return numbers.map((number) => this.nameOf(run, number));
  }
}
