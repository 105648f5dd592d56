import { expect } from 'vitest';
import { type Offer, type OfferResult, takenWith } from '../../../../shared/ports/frontier/frontier.ts';
import type { RequestEnd } from '../../../../shared/ports/host-gate.ts';
import { FIRST_STEP, malformedMarkOf, markOf } from '../../../../shared/task/url/fingerprint.ts';
import { chooseRelease, type Which } from './choice.ts';
import { FAST_HOSTS, HOSTS, type Model, type ModelRun } from './model.ts';
import { OnRun } from './run-commands.ts';
import { beginVisit, countOffer, endVisit, findVisit, type ModelVisit, offerName } from './visits.ts';
import type { Command, World } from './world.ts';

export class Offers extends OnRun {
  readonly paths: readonly number[];
  readonly parent: Which | undefined;
  readonly deadlineMs: number | undefined;
  readonly most: number | undefined;
  readonly limit: number | undefined;
  /** When all URLs changed according to their sitemap, in milliseconds relative to now. */
  readonly changedMs: number | undefined;
  /** Whether the offer is sent twice, as when the first answer is lost. */
  readonly again: boolean;

  constructor(
    id: string,
    paths: readonly number[],
    {
      parent,
      deadlineMs,
      most,
      limit,
      changedMs,
      again = false,
    }: Partial<Pick<Offers, 'parent' | 'deadlineMs' | 'most' | 'limit' | 'changedMs' | 'again'>>,
  ) {
    super(id);
    this.again = again;
    this.most = most;
    this.limit = limit;
    this.paths = paths;
    this.parent = parent;
    this.deadlineMs = deadlineMs;
    this.changedMs = changedMs;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const hosts = run.intervalMs > 0 ? HOSTS.slice(2) : FAST_HOSTS;
    const changedAt = this.changedMs === undefined ? undefined : model.now + this.changedMs;
    const offers = this.paths.map((path) => offerOf(path, hosts, { deadlineMs: this.deadlineMs, changedAt }));
    const visit = this.parent === undefined ? undefined : this.#visitOf(model, world, run, this.parent);
    const question = {
      ...(visit === undefined ? {} : { parent: { ...visit.name, tally: visit.tally } }),
      ...(this.most === undefined ? {} : { most: this.most }),
      ...(this.limit === undefined ? {} : { limit: this.limit }),
    };
    for (let i = 0; i < (this.again ? 2 : 1); i++) {
      const result = await world.ask((store) => store.port.offer(this.id, offers, question));
      expect(result).toEqual(this.#expected(model, run, offers, visit));
      if (i > 0 || visit === undefined) continue;
      if ('accepted' in result) countOffer(world, visit, offers.length);
      else if (result.refused === 'parent') endVisit(world, visit);
    }
  }

  #visitOf(model: Model, world: World, run: ModelRun, which: Which): ModelVisit {
    const name = chooseRelease(model, world, run, which);
    return findVisit(world, this.id, name, typeof which === 'number' ? which : 1) ?? beginVisit(world, this.id, name);
  }

  #expected(model: Model, run: ModelRun, offers: readonly Offer[], visit: ModelVisit | undefined): OfferResult {
    if (run.state !== 'running' && run.state !== 'paused') return { refused: 'run' };
    if (visit !== undefined && !this.#countFor(model, run, visit, offers.length)) return { refused: 'parent' };
    let [accepted, known, maxPages, limit] = [0, 0, 0, 0];
    for (const offer of offers) {
      const mark = 'malformed' in offer ? malformedMarkOf(offer.malformed) : offer.mark;
      const isUrl = !('malformed' in offer);
      if (!model.takes(run, mark, isUrl ? offer.changedAt : undefined, isUrl)) {
        known++;
        continue;
      }
      if (run.tasks.length >= (this.limit ?? Number.POSITIVE_INFINITY)) {
        limit++;
        continue;
      }
      if (run.tasks.length >= (this.most ?? Number.POSITIVE_INFINITY)) {
        maxPages++;
        continue;
      }
      if (run.incremental && isUrl && run.dedup === 'ever') {
        run.taken.add(mark);
        if (model.marks(run).has(mark)) model.takenBy.set(mark, run.id);
      }
      model.marks(run).add(mark);
      accepted++;
      run.tasks.push({
        mark,
        host: isUrl ? offer.host : '?',
        deadline: isUrl && offer.deadlineMs !== undefined ? model.now + offer.deadlineMs : 0,
        where: 'waiting',
        notBefore: 0,
        release: 0,
        phase: 'publishing',
        isAdmitted: false,
        leaseEnd: 0,
        attempts: 0,
        starts: 0,
        tally: undefined,
      });
    }
    run.leftOut.maxPages += maxPages;
    run.leftOut.limit += limit;
    return takenWith(accepted, known, { scope: 0, maxPages, limit });
  }

  /** Counts links for their page. Puts the page back if the store lacks links that it offered before. */
  #countFor(model: Model, run: ModelRun, { name, tally: { stamp, links } }: ModelVisit, count: number): boolean {
    const page = model.flight(run, name);
    if (page === undefined) return false;
    const held = page.tally?.stamp === stamp ? page.tally.links : 0;
    if (held < links) {
      page.starts = 0;
      model.putBack(run, page);
      return false;
    }
    page.tally = { stamp, links: Math.max(held, links + count) };
    model.offers.add(offerName({ stamp, links }));
    return true;
  }

  override toString(): string {
    return `offer ${this.id} [${this.paths}]${this.again ? ' twice' : ''} parent ${this.parent} deadline ${this.deadlineMs} most ${this.most} limit ${this.limit} changed ${this.changedMs}`;
  }
}

function offerOf(
  path: number,
  hosts: readonly string[],
  times: { readonly deadlineMs: number | undefined; readonly changedAt: number | undefined },
): Offer {
  if (path === 0) return { malformed: 'not a url', problem: 'it has no scheme' };
  const host = hosts[path % hosts.length] ?? '';
  const url = `http://${host}/${path}`;
  const step = path % 5 === 2 ? 'product' : FIRST_STEP;
  return {
    url,
    mark: markOf(url, step),
    host,
    step,
    depth: path % 3,
    queue: path % 4 === 0 ? 'priority' : 'normal',
    ...times,
  };
}

export class Release implements Command {
  readonly limit: number;
  readonly window: number;
  /** Whether it is asked for twice, as when the first answer is lost. */
  readonly again: boolean;

  constructor(limit: number, window: number, again: boolean) {
    this.limit = limit;
    this.window = window;
    this.again = again;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    for (let i = 0; i < (this.again ? 2 : 1); i++) await this.#once(model, world);
  }

  async #once(model: Model, world: World): Promise<void> {
    const request = { limit: this.limit, window: this.window, unpaced: false };
    const { tasks } = await world.ask((store) => store.port.release(request));
    expect(tasks.length).toBeLessThanOrEqual(this.limit);
    for (const task of tasks) {
      world.gave(task);
      model.takeReleased(task);
    }
    if (tasks.length > 0)
      expect(model.out(), 'the window holds').toBeLessThanOrEqual(Math.max(this.window, tasks.length));
    const slow = tasks.filter(({ task, verdict }) => task.host === 'slow.test' && verdict === 'go');
    expect(slow.length, 'a paced host is released one slot at a time').toBeLessThanOrEqual(1);
    if (tasks.length < this.limit && model.out() < this.window) {
      // A host being probed gives one task, which may turn out to be past its deadline.
      const late = new Set(tasks.filter(({ verdict }) => verdict === 'deadline').map(({ task }) => task.host));
      const left = model.overdue().filter(({ host }) => !(late.has(host) && model.host(host).isTried));
      expect(left, 'nothing due is left while there is room').toEqual([]);
    }
  }

  toString(): string {
    return `release ${this.limit} of ${this.window}${this.again ? ' twice' : ''}`;
  }
}

/** A request: asks the gate, and reports how long it took and whether it was sent late. */
export class Request implements Command {
  readonly holder: string;
  readonly tookMs: number;
  readonly isFailure: boolean;
  readonly isLate: boolean;

  constructor(holder: string, { durationMs, isFailure = false }: RequestEnd, isLate: boolean) {
    this.holder = holder;
    this.tookMs = durationMs;
    this.isFailure = isFailure;
    this.isLate = isLate;
  }

  check(): boolean {
    return true;
  }

  async run(_: Model, world: World): Promise<void> {
    const limit = { intervalMs: 1_000, concurrency: 2 };
    const { granted } = await world.ask((store) => store.gate.ask('slow.test', limit, this.holder));
    const end = { durationMs: this.tookMs, isFailure: this.isFailure };
    if (this.isLate) await world.ask((store) => store.gate.sentLate('slow.test', limit));
    if (granted) await world.ask((store) => store.gate.leave('slow.test', limit, this.holder, end));
  }

  toString(): string {
    return `request ${this.holder} ${this.tookMs}${this.isFailure ? ' in vain' : ''}${this.isLate ? ', sent late' : ''}`;
  }
}

export class Reap implements Command {
  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const lapsed = [...model.runs.values()].flatMap((run) =>
      model
        .inFlight(run)
        .filter(({ leaseEnd }) => leaseEnd <= model.now)
        .map((task) => ({ run, task })),
    );
    expect(await world.ask((store) => store.frontier.reap())).toBe(lapsed.length);
    for (const { run, task } of lapsed) model.putBack(run, task);
    for (const run of model.runs.values()) model.finishIfDone(run);
  }

  toString(): string {
    return 'reap';
  }
}

/** A person reports that the broker was wiped. */
export class EndQueued extends OnRun {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const queued = model.inFlight(run).filter(({ phase }) => phase === 'queued');
    expect(await world.ask((store) => store.frontier.endQueued(this.id))).toEqual({
      ended: queued.length,
      next: undefined,
    });
    for (const task of queued) model.putBack(run, task);
    if (queued.length > 0) model.finishIfDone(run);
  }

  override toString(): string {
    return `end queued ${this.id}`;
  }
}

export class Drain implements Command {
  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    let drained = 0;
    for (const run of model.runs.values()) {
      if (run.state !== 'cancelled') continue;
      for (const task of run.tasks.filter(({ where }) => where === 'waiting')) {
        model.end(run, task, 'cancelled');
        drained++;
      }
      model.finishIfDone(run);
    }
    expect(await world.ask((store) => store.frontier.drain())).toBe(drained);
  }

  toString(): string {
    return 'drain';
  }
}

export class Step implements Command {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    model.step(this.ms);
    await world.step(this.ms);
  }

  toString(): string {
    return `step ${this.ms}`;
  }
}
