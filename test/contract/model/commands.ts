import fc from 'fast-check';
import { expect } from 'vitest';
import type { Admission, Offer, OfferResult, Settlement } from '../../../shared/frontier.ts';
import type { RunOptions } from '../../../shared/runs.ts';
import type { Outcome } from '../../../shared/task/outcome.ts';
import { HOSTS, type Model, type ModelRun, type ModelTask, SLOW_INTERVAL_MS } from './model.ts';
import type { World } from './world.ts';

type Command = fc.AsyncCommand<Model, World>;

/** The runs of the model: two that share all marks, one with marks of its own, one with a pace. */
const RUNS: Readonly<Record<string, Pick<RunOptions, 'dedup' | 'intervalMs'>>> = {
  'r1-ever': { dedup: 'ever', intervalMs: 0 },
  'r2-ever': { dedup: 'ever', intervalMs: 0 },
  'r3-own': { dedup: 'run', intervalMs: 0 },
  'r4-slow': { dedup: 'run', intervalMs: SLOW_INTERVAL_MS },
};

const STEPS_MS = [1_000, 5_000, 31_000, 65_000, 1_200_000, 7_200_000];

function options(id: string): RunOptions {
  const { dedup, intervalMs } = RUNS[id] ?? { dedup: 'ever', intervalMs: 0 };
  return { crawler: 'page', dedup, intervalMs, maxAttempts: 3, follow: false, maxDepth: 3, content: 'none' };
}

/** A command on a run that is known. `touch` is false for those that must leave the counters alone. */
abstract class OnRun implements Command {
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
    for (const each of model.runs.values()) {
      model.expectProgress(each, await world.ask((store) => store.runs.progress(each.id)));
    }
  }

  protected abstract act(model: Model, world: World, run: ModelRun): Promise<void>;
}

class Open implements Command {
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
        dedup: options(this.id).dedup,
        intervalMs: options(this.id).intervalMs,
        state: 'running',
        ended: false,
        completed: 0,
        producers: new Map(),
        tasks: [],
        seen: new Set(),
        failedMarks: new Set(),
        trouble: new Map(),
        lastRelease: 0,
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

class Seal extends OnRun {
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

class Offers extends OnRun {
  readonly paths: readonly number[];
  readonly parent: number | undefined;
  readonly deadlineMs: number | undefined;

  constructor(id: string, paths: readonly number[], parent: number | undefined, deadlineMs: number | undefined) {
    super(id);
    this.paths = paths;
    this.parent = parent;
    this.deadlineMs = deadlineMs;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const hosts = run.intervalMs > 0 ? HOSTS.slice(2) : HOSTS.slice(0, 2);
    const offers = this.paths.map((path) => offerOf(path, hosts, this.deadlineMs));
    const question = this.parent === undefined ? {} : { parent: this.parent };
    const result = await world.ask((store) => store.frontier.offer(this.id, offers, question));
    expect(result).toEqual(this.#expected(model, run, offers));
  }

  #expected(model: Model, run: ModelRun, offers: readonly Offer[]): OfferResult {
    if (run.state !== 'running' && run.state !== 'paused') return { refused: 'run' };
    if (this.parent !== undefined && model.flight(run, this.parent) === undefined) return { refused: 'parent' };
    let accepted = 0;
    for (const offer of offers) {
      const mark = 'malformed' in offer ? offer.malformed : offer.mark;
      if (model.isKnown(run, mark)) continue;
      model.marks(run).add(mark);
      accepted++;
      const isUrl = !('malformed' in offer);
      run.tasks.push({
        mark,
        host: isUrl ? offer.host : '?',
        deadline: isUrl && offer.deadlineMs !== undefined ? model.now + offer.deadlineMs : 0,
        where: 'waiting',
        notBefore: 0,
        release: 0,
        phase: 'publishing',
        leaseEnd: 0,
        attempts: 0,
        starts: 0,
      });
    }
    return { accepted, known: offers.length - accepted };
  }

  override toString(): string {
    return `offer ${this.id} [${this.paths}] parent ${this.parent} deadline ${this.deadlineMs}`;
  }
}

function offerOf(path: number, hosts: readonly string[], deadlineMs: number | undefined): Offer {
  if (path === 0) return { malformed: 'not a url', problem: 'it has no scheme' };
  const host = hosts[path % hosts.length] ?? '';
  const url = `http://${host}/${path}`;
  return { url, mark: url, host, step: '', depth: path % 3, queue: path % 4 === 0 ? 'priority' : 'normal', deadlineMs };
}

class Release implements Command {
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
      expect(model.overdue(), 'nothing due is left while there is room').toEqual([]);
    }
  }

  toString(): string {
    return `release ${this.limit} of ${this.window}${this.again ? ' twice' : ''}`;
  }
}

/** A number that becomes a release of a run: one in flight, or any, stale or never given. Or exactly one. */
type Which = number | { readonly release: number };

abstract class OnRelease extends OnRun {
  readonly pick: Which;

  constructor(id: string, pick: Which) {
    super(id);
    this.pick = pick;
  }

  protected choose(model: Model, run: ModelRun): { readonly release: number; readonly task: ModelTask | undefined } {
    const release = typeof this.pick === 'number' ? this.#release(model, run, this.pick) : this.pick.release;
    return { release, task: model.flight(run, release) };
  }

  #release(model: Model, run: ModelRun, pick: number): number {
    const flights = model.inFlight(run);
    const task = pick % 5 === 0 ? undefined : flights[pick % Math.max(1, flights.length)];
    return task?.release ?? (pick % (run.lastRelease + 2)) + 1;
  }

  protected get which(): string {
    return typeof this.pick === 'number' ? `#${this.pick}` : `release ${this.pick.release}`;
  }
}

class Queued extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { release, task } = this.choose(model, run);
    await world.ask((store) => store.frontier.queued(this.id, [release]));
    if (task?.phase !== 'publishing') return;
    task.phase = 'queued';
    const till = model.now + (task.mark.endsWith('4') || task.mark.endsWith('8') ? 2_100_000 : 3_900_000);
    task.leaseEnd = task.deadline > 0 ? Math.min(till, task.deadline + 60_000) : till;
  }

  override toString(): string {
    return `queued ${this.id} ${this.which}`;
  }
}

class Admit extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { release, task } = this.choose(model, run);
    const admission = await world.ask((store) => store.frontier.admit(this.id, release, 'w-1'));
    expect(admission.verdict).toBe(this.#expected(model, run, task));
    if ('state' in admission) expect(admission.state).toMatchObject({ attempts: task?.attempts, starts: task?.starts });
  }

  #expected(model: Model, run: ModelRun, task: ModelTask | undefined): Admission['verdict'] {
    if (task === undefined) return 'gone';
    if (run.state === 'cancelled' || run.state === 'paused') {
      model.putBack(run, task);
      model.finishIfDone(run);
      return run.state === 'paused' ? 'put_back' : 'cancelled';
    }
    const isLate = task.deadline > 0 && task.deadline <= model.now;
    if (!isLate && (model.pausedUntil.get(task.host) ?? 0) > model.now + 2_000) {
      model.putBack(run, task);
      return 'put_back';
    }
    task.phase = 'working';
    task.leaseEnd = model.now + 60_000;
    if (isLate) return 'deadline';
    if (task.starts >= 6) return 'crash_loop';
    task.starts++;
    return 'work';
  }

  override toString(): string {
    return `admit ${this.id} ${this.which}`;
  }
}

class Handed extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { release, task } = this.choose(model, run);
    await world.ask((store) => store.frontier.handed(this.id, [release]));
    if (task === undefined) return;
    task.phase = 'working';
    task.leaseEnd = model.now + 60_000;
  }

  override toString(): string {
    return `handed ${this.id} ${this.which}`;
  }
}

class Renew extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { release, task } = this.choose(model, run);
    await world.ask((store) => store.frontier.renew(this.id, [release]));
    if (task?.phase === 'working') task.leaseEnd = model.now + 60_000;
  }

  override toString(): string {
    return `renew ${this.id} ${this.which}`;
  }
}

class Settle extends OnRelease {
  readonly outcome: Outcome;
  readonly hostAnswered: boolean | undefined;
  readonly again: boolean;

  constructor(id: string, pick: Which, outcome: Outcome, hostAnswered: boolean | undefined, again: boolean) {
    super(id, pick);
    this.outcome = outcome;
    this.hostAnswered = hostAnswered;
    this.again = again;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { release, task } = this.choose(model, run);
    const settlement: Settlement = {
      outcome: this.outcome,
      ...(this.hostAnswered === undefined ? {} : { hostAnswered: this.hostAnswered }),
    };
    const reply = await world.ask((store) => store.frontier.settle(this.id, release, settlement));
    expect(reply).toBe(task === undefined ? 'already' : 'settled');
    if (this.again)
      expect(await world.ask((store) => store.frontier.settle(this.id, release, settlement))).toBe('already');
    if (task !== undefined) this.#apply(model, run, task);
    model.finishIfDone(run);
  }

  #apply(model: Model, run: ModelRun, task: ModelTask): void {
    if (this.hostAnswered === true) run.trouble.delete(task.host);
    if (this.hostAnswered === false) {
      run.trouble.set(task.host, { since: run.trouble.get(task.host)?.since ?? model.now, last: model.now });
    }
    const { outcome } = this;
    if (outcome.kind === 'retry') {
      task.starts = 0;
      if (run.state !== 'cancelled') task.attempts++;
      model.putBack(run, task, model.now + outcome.inMs);
    } else if (outcome.kind === 'defer') {
      task.starts = 0;
      model.putBack(run, task, outcome.inMs === undefined ? 0 : model.now + outcome.inMs);
      if (outcome.host !== undefined) {
        const till = model.now + outcome.host.pauseMs;
        model.pausedUntil.set(task.host, Math.max(till, model.pausedUntil.get(task.host) ?? 0));
      }
    } else {
      model.end(run, task, outcome.kind, outcome.kind === 'failed' && outcome.reason === 'malformed');
    }
  }

  override toString(): string {
    return `settle ${this.id} ${this.which} ${JSON.stringify(this.outcome)} up:${this.hostAnswered}${this.again ? ' twice' : ''}`;
  }
}

/** What a fleet in order does: everything that is due is released, admitted and settled, one after another. */
class Work extends OnRun {
  readonly outcome: Outcome;

  constructor(id: string, outcome: Outcome) {
    super(id);
    this.outcome = outcome;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    await new Release(50, 1_000, false).run(model, world);
    for (const [index, { release }] of model.inFlight(run).entries()) {
      await new Admit(this.id, { release }).run(model, world);
      if (model.flight(run, release) === undefined) continue;
      await new Settle(this.id, { release }, this.outcome, index % 2 === 0, false).run(model, world);
    }
  }

  override toString(): string {
    return `work ${this.id} ${JSON.stringify(this.outcome)}`;
  }
}

class Reap implements Command {
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
class EndQueued extends OnRun {
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

class Drain implements Command {
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

class Steer extends OnRun {
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

class Step implements Command {
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

const run = fc.constantFrom(...Object.keys(RUNS));
const pick = fc.nat(1_000);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Outcome>({ kind: 'done' }) },
  fc.constant<Outcome>({ kind: 'skipped', reason: 'content_type' }),
  fc.constantFrom<Outcome>(
    { kind: 'failed', reason: 'http_4xx' },
    { kind: 'failed', reason: 'malformed' },
    { kind: 'failed', reason: 'deadline' },
  ),
  {
    weight: 2,
    arbitrary: fc.constantFrom<Outcome>(
      { kind: 'retry', reason: 'timeout', inMs: 10_000 },
      { kind: 'retry', reason: 'connection', inMs: 300_000 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Outcome>(
      { kind: 'defer' },
      { kind: 'defer', inMs: 20_000 },
      { kind: 'defer', host: { pauseMs: 30_000, reason: 'Retry-After' } },
      { kind: 'defer', host: { pauseMs: 900_000, reason: 'Retry-After' } },
    ),
  },
);

/** Random commands for {@link Model}: all that a fleet can do to a frontier, and what its failures do to it. */
export function commands(most: number): fc.Arbitrary<Iterable<Command>> {
  const producer = fc.constantFrom('p1', 'p2');
  const paths = fc.array(fc.nat(7), { minLength: 1, maxLength: 6 });
  const deadline = fc.option(fc.constantFrom(50_000, 2_000_000), { nil: undefined });
  const open = fc.tuple(run, producer).map(([id, by]) => new Open(id, by));
  const seal = fc.tuple(run, fc.option(producer, { nil: undefined })).map(([id, by]) => new Seal(id, by));
  const offer = fc.tuple(run, paths, deadline).map(([id, list, ms]) => new Offers(id, list, undefined, ms));
  const links = fc
    .tuple(run, paths, fc.integer({ min: 1, max: 8 }))
    .map(([id, list, parent]) => new Offers(id, list, parent, undefined));
  const release = fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 30 }), fc.boolean())
    .map((args) => new Release(...args));
  const queued = fc.tuple(run, pick).map((args) => new Queued(...args));
  const admit = fc.tuple(run, pick).map((args) => new Admit(...args));
  const handed = fc.tuple(run, pick).map((args) => new Handed(...args));
  const renew = fc.tuple(run, pick).map((args) => new Renew(...args));
  const health = fc.option(fc.boolean(), { nil: undefined });
  const settle = fc.tuple(run, pick, outcome, health, fc.boolean()).map((args) => new Settle(...args));
  const work = fc.tuple(run, outcome).map((args) => new Work(...args));
  const steer = fc
    .tuple(run, fc.constantFrom<'pause' | 'resume' | 'cancel'>('pause', 'resume', 'resume', 'cancel'))
    .map((args) => new Steer(...args));
  const step = fc.constantFrom(...STEPS_MS).map((ms) => new Step(ms));
  const endQueued = run.map((id) => new EndQueued(id));
  const janitor = fc.constantFrom(new Reap(), new Drain());
  // A kind of command comes up as often as it stands here.
  const kinds = [
    open,
    seal,
    seal,
    offer,
    offer,
    links,
    release,
    release,
    queued,
    admit,
    admit,
    renew,
    settle,
    settle,
    work,
    work,
    endQueued,
    handed,
  ];
  return fc.commands([...kinds, janitor, janitor, steer, step, step, step], { maxCommands: most, size: 'max' });
}
