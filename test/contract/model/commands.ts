import type fc from 'fast-check';
import { expect } from 'vitest';
import type { Offer, OfferResult } from '../../../shared/frontier.ts';
import type { RunOptions } from '../../../shared/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { FAST_HOSTS, HOSTS, type Model, type ModelRun, SLOW_INTERVAL_MS } from './model.ts';
import type { World } from './world.ts';

export type Command = fc.AsyncCommand<Model, World>;

const BASE: RunOptions = { ...FAST_RUN, dedup: 'ever' };

/** The runs of the model: two that share all marks, one with marks of its own, one with a pace, and incremental ones. */
export const RUNS: Readonly<Record<string, RunOptions>> = {
  'r1-ever': BASE,
  'r2-ever': BASE,
  'r3-own': { ...BASE, dedup: 'run' },
  'r4-slow': { ...BASE, dedup: 'run', intervalMs: SLOW_INTERVAL_MS },
  'r5-changes': { ...BASE, incremental: true },
  'r6-ages': { ...BASE, incremental: true, recrawlAfterMs: 30_000 },
  'r7-own-ages': { ...BASE, dedup: 'run', incremental: true, recrawlAfterMs: 1_000_000 },
};

function options(id: string): RunOptions {
  return RUNS[id] ?? BASE;
}

/** A command on a run that is known. `touch` is false for those that must leave the counters alone. */
export abstract class OnRun implements Command {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  check(model: Readonly<Model>): boolean {
    return model.runs.has(this.id);
  }

  async run(model: Model, world: World): Promise<void> {
    const run = model.run(this.id);
    if (run === undefined) throw new Error('checked before');
    await this.act(model, world, run);
    model.expectOneLiveTaskPerMark();
    for (const each of model.runs.values()) {
      model.expectProgress(each, await world.ask((store) => store.runs.progress(each.id)));
      await world.ask((store) => store.runs.hosts(each.id, 10));
    }
  }

  protected abstract act(model: Model, world: World, run: ModelRun): Promise<void>;
}

export class Open implements Command {
  readonly id: string;
  readonly producer: string;

  constructor(id: string, producer: string) {
    this.id = id;
    this.producer = producer;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const { how } = await world.ask((store) => store.runs.open(this.id, options(this.id), this.producer));
    let run = model.run(this.id);
    if (run?.state === 'cancelled') {
      expect(how).toBe('cancelled');
      return;
    }
    expect(how).toBe(run === undefined ? 'created' : run.state === 'finished' ? 'reopened' : 'joined');
    if (run === undefined) {
      run = {
        id: this.id,
        ...options(this.id),
        state: 'running',
        ended: false,
        completed: 0,
        producers: new Map(),
        tasks: [],
        seen: new Set(),
        taken: new Set(),
        failedMarks: new Set(),
        claims: new Map(),
        trouble: new Map(),
        lastRelease: 0,
        bytesSaved: 0,
      };
      model.runs.set(this.id, run);
    } else if (run.state === 'finished') {
      run.state = 'running';
      run.ended = false;
    }
    run.producers.set(this.producer, model.now + 60_000);
  }

  toString(): string {
    return `open ${this.id} ${this.producer}`;
  }
}

export class Seal extends OnRun {
  readonly producer: string | undefined;

  constructor(id: string, producer: string | undefined) {
    super(id);
    this.producer = producer;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    await world.ask((store) => store.runs.seal(this.id, this.producer));
    if (this.producer === undefined) {
      run.producers.clear();
      run.completed++;
    } else if (run.producers.delete(this.producer)) {
      run.completed++;
    }
    model.finishIfDone(run);
  }

  override toString(): string {
    return `seal ${this.id} ${this.producer ?? ''}`;
  }
}

export class Offers extends OnRun {
  readonly paths: readonly number[];
  readonly parent: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly most: number | undefined;
  /** What the sitemap says of all of them; against now. */
  readonly changedMs: number | undefined;

  constructor(
    id: string,
    paths: readonly number[],
    { parent, deadlineMs, most, changedMs }: Partial<Pick<Offers, 'parent' | 'deadlineMs' | 'most' | 'changedMs'>>,
  ) {
    super(id);
    this.most = most;
    this.paths = paths;
    this.parent = parent;
    this.deadlineMs = deadlineMs;
    this.changedMs = changedMs;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const hosts = run.intervalMs > 0 ? HOSTS.slice(2) : FAST_HOSTS;
    const changedAt = this.changedMs === undefined ? undefined : model.now + this.changedMs;
    const offers = this.paths.map((path) => offerOf(path, hosts, { deadlineMs: this.deadlineMs, changedAt }));
    const question = {
      ...(this.parent === undefined ? {} : { parent: this.parent }),
      ...(this.most === undefined ? {} : { most: this.most }),
    };
    const result = await world.ask((store) => store.frontier.offer(this.id, offers, question));
    expect(result).toEqual(this.#expected(model, run, offers));
  }

  #expected(model: Model, run: ModelRun, offers: readonly Offer[]): OfferResult {
    if (run.state !== 'running' && run.state !== 'paused') return { refused: 'run' };
    if (this.parent !== undefined && model.flight(run, this.parent) === undefined) return { refused: 'parent' };
    let [accepted, known, beyond] = [0, 0, 0];
    for (const offer of offers) {
      const mark = 'malformed' in offer ? offer.malformed : offer.mark;
      const isUrl = !('malformed' in offer);
      if (!model.takes(run, mark, isUrl ? offer.changedAt : undefined, isUrl)) {
        known++;
        continue;
      }
      if (run.tasks.length >= (this.most ?? Number.POSITIVE_INFINITY)) {
        beyond++;
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
      });
    }
    return { accepted, known, ...(beyond === 0 ? {} : { beyond }) };
  }

  override toString(): string {
    return `offer ${this.id} [${this.paths}] parent ${this.parent} deadline ${this.deadlineMs} most ${this.most} changed ${this.changedMs}`;
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
  return { url, mark: url, host, step: '', depth: path % 3, queue: path % 4 === 0 ? 'priority' : 'normal', ...times };
}

export class Release implements Command {
  readonly limit: number;
  readonly window: number;
  /** Asked twice, as when the first answer was lost. */
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
    const { tasks } = await world.ask((store) => store.frontier.release(request));
    expect(tasks.length).toBeLessThanOrEqual(this.limit);
    for (const task of tasks) model.takeReleased(task);
    if (tasks.length > 0)
      expect(model.out(), 'the window holds').toBeLessThanOrEqual(Math.max(this.window, tasks.length));
    const slow = tasks.filter(({ task, verdict }) => task.host === 'slow.test' && verdict === 'go');
    expect(slow.length, 'a paced host is released one slot at a time').toBeLessThanOrEqual(1);
    if (tasks.length < this.limit && model.out() < this.window) {
      // A host that is tried gives one task, which may turn out to be too late.
      const late = new Set(tasks.filter(({ verdict }) => verdict === 'deadline').map(({ task }) => task.host));
      const left = model.overdue().filter(({ host }) => !(late.has(host) && model.host(host).isTried));
      expect(left, 'nothing due is left while there is room').toEqual([]);
    }
  }

  toString(): string {
    return `release ${this.limit} of ${this.window}${this.again ? ' twice' : ''}`;
  }
}

/** Who makes a request of its own asks the gate, and tells how long it took. */
export class Request implements Command {
  readonly holder: string;
  readonly tookMs: number;
  readonly isFailure: boolean;

  constructor(holder: string, tookMs: number, isFailure: boolean) {
    this.holder = holder;
    this.tookMs = tookMs;
    this.isFailure = isFailure;
  }

  check(): boolean {
    return true;
  }

  async run(_: Model, world: World): Promise<void> {
    const limit = { intervalMs: 1_000, concurrency: 2 };
    const { granted } = await world.ask((store) => store.gate.ask('slow.test', limit, this.holder));
    if (granted)
      await world.ask((store) => store.gate.leave('slow.test', limit, this.holder, this.tookMs, this.isFailure));
  }

  toString(): string {
    return `request ${this.holder} ${this.tookMs}${this.isFailure ? ' in vain' : ''}`;
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

/** The broker was wiped, and somebody says so. */
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

export class Steer extends OnRun {
  readonly wanted: 'pause' | 'resume' | 'cancel';

  constructor(id: string, wanted: 'pause' | 'resume' | 'cancel') {
    super(id);
    this.wanted = wanted;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    await world.ask((store) => store.runs[this.wanted](this.id));
    if (run.ended || run.state === 'cancelled') return;
    run.state = ({ pause: 'paused', resume: 'running', cancel: 'cancelled' } as const)[this.wanted];
    if (run.state === 'cancelled') run.producers.clear();
    model.finishIfDone(run);
  }

  override toString(): string {
    return `${this.wanted} ${this.id}`;
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
    model.now += this.ms;
    world.step(this.ms);
  }

  toString(): string {
    return `step ${this.ms}`;
  }
}
