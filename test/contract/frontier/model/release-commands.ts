import { expect } from 'vitest';
import type {
  Admission,
  LinkTally,
  PageVisit,
  ReleaseName,
  Settlement,
} from '../../../../shared/ports/frontier/frontier.ts';
import { MAX_SLOT_WAIT_MS } from '../../../../shared/ports/host-gate.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import type { Outcome } from '../../../../shared/task/task/outcome.ts';
import type { Task } from '../../../../shared/task/task/task.ts';
import { chooseRelease, type Which } from './choice.ts';
import { Offers, Release } from './commands.ts';
import { FAST_HOSTS, type Model, type ModelRun, type ModelTask } from './model.ts';
import { OnRun } from './run-commands.ts';
import { beginVisit, findVisit } from './visits.ts';
import type { World } from './world.ts';

/** The facts that an incremental run reports of each page it visits. */
const VISITED: PageVisit = { contentHash: 'h', bytes: 10, readAs: 'page', askedMsAgo: 500, bytesSaved: 3 };

abstract class OnRelease extends OnRun {
  readonly pick: Which;

  constructor(id: string, pick: Which) {
    super(id);
    this.pick = pick;
  }

  protected choose(
    model: Model,
    world: World,
    run: ModelRun,
  ): { readonly name: ReleaseName; readonly task: ModelTask | undefined } {
    const name = chooseRelease(model, world, run, this.pick);
    return { name, task: model.flight(run, name) };
  }

  protected get which(): string {
    return typeof this.pick === 'number' ? `#${this.pick}` : `release ${this.pick.release} of ${this.pick.mark}`;
  }
}

export class Queued extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    await world.ask((store) => store.port.queued(this.id, [name]));
    if (task?.phase !== 'publishing') return;
    task.phase = 'queued';
    const till = model.now + (task.mark.endsWith('4') || task.mark.endsWith('8') ? 2_100_000 : 3_900_000);
    task.leaseEnd = task.deadline > 0 ? Math.min(till, task.deadline + 60_000) : till;
  }

  override toString(): string {
    return `queued ${this.id} ${this.which}`;
  }
}

export class Admit extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    const admission = await world.ask((store) => store.port.admit(this.id, name, 'w-1'));
    expect(admission.verdict).toBe(this.#expected(model, run, task));
    if (admission.verdict === 'work')
      expect(admission.known?.fetchedAt).toBe(run.incremental ? model.fetchedAt.get(task?.mark ?? '') : undefined);
    if (admission.verdict === 'work') beginVisit(world, this.id, name);
    if ('state' in admission) expect(admission.state).toMatchObject({ attempts: task?.attempts, starts: task?.starts });
  }

  #expected(model: Model, run: ModelRun, task: ModelTask | undefined): Admission['verdict'] {
    if (task === undefined) return 'gone';
    const host = model.host(task.host);
    const { release } = task;
    if (run.state === 'cancelled' || run.state === 'paused') {
      model.putBack(run, task);
      host.givenBack(run.id, release);
      model.finishIfDone(run);
      return run.state === 'paused' ? 'put_back' : 'cancelled';
    }
    const isLate = task.deadline > 0 && task.deadline <= model.now;
    const mayNot = host.pausedUntil > model.now + MAX_SLOT_WAIT_MS || host.isTriedByOther(run.id, release, model.now);
    if (!isLate && mayNot) {
      model.putBack(run, task);
      host.givenBack(run.id, release);
      return 'put_back';
    }
    task.phase = 'working';
    task.isAdmitted = true;
    task.leaseEnd = model.now + 60_000;
    task.starts++;
    if (isLate) return 'deadline';
    if (task.starts > 6) return 'crash_loop';
    host.admitted(run.id, release, model.now);
    return 'work';
  }

  override toString(): string {
    return `admit ${this.id} ${this.which}`;
  }
}

export class Claim extends OnRelease {
  readonly path: number;

  constructor(id: string, which: Which, path: number) {
    super(id, which);
    this.path = path;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    const mark = `http://${FAST_HOSTS[0]}/${this.path}`;
    const expected = task === undefined ? 'stale' : this.#expected(model, run, task, mark);
    expect(await world.ask((store) => store.port.isTaken(this.id, name, mark))).toBe(expected === 'taken');
    expect(await world.ask((store) => store.port.claim(this.id, name, mark))).toBe(expected);
  }

  #expected(model: Model, run: ModelRun, task: ModelTask, mark: string): 'claimed' | 'taken' {
    if (task.mark === mark || run.claims.get(task.mark) === mark) return 'claimed';
    const marks = model.marks(run);
    if (marks.has(mark)) return 'taken';
    model.freeClaim(run, run.claims.get(task.mark) ?? '');
    marks.add(mark);
    if (run.incremental && run.dedup === 'ever') run.taken.add(mark);
    run.claims.set(task.mark, mark);
    return 'claimed';
  }

  override toString(): string {
    return `claim ${this.id} ${this.which} ${this.path}`;
  }
}

export class Handed extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    await world.ask((store) => store.port.handed(this.id, [name]));
    if (task === undefined || task.isAdmitted) return;
    task.phase = 'working';
    task.leaseEnd = model.now + 60_000;
  }

  override toString(): string {
    return `handed ${this.id} ${this.which}`;
  }
}

export class Renew extends OnRelease {
  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    await world.ask((store) => store.port.renew(this.id, [name]));
    if (task?.phase === 'working') task.leaseEnd = model.now + 60_000;
  }

  override toString(): string {
    return `renew ${this.id} ${this.which}`;
  }
}

/** The part of a settlement about the host. */
export type Health = Pick<Settlement, 'hostAnswered' | 'hostSpoke' | 'hostTrouble' | 'hostFault' | 'slowDown'>;

export class Settle extends OnRelease {
  readonly outcome: Outcome;
  readonly health: Health;
  readonly again: boolean;
  /** The host that the task was redirected to. */
  readonly movedTo: string | undefined;

  constructor(id: string, pick: Which, outcome: Outcome, health: Health, again: boolean, movedTo?: string) {
    super(id, pick);
    this.movedTo = movedTo;
    this.outcome = outcome;
    this.health = health;
    this.again = again;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    const { name, task } = this.choose(model, world, run);
    // A malformed text has no host that could redirect it, and only runs with a pace use the slow host.
    const movedTo = FAST_HOSTS.some((host) => host === task?.host) ? this.movedTo : undefined;
    const visit = findVisit(world, this.id, name, typeof this.pick === 'number' ? this.pick : 1);
    const tally = visit?.tally.links === 0 ? undefined : visit?.tally;
    const settlement: Settlement = {
      outcome: this.outcome,
      ...(tally === undefined ? {} : { tally }),
      ...this.health,
      ...(movedTo === undefined || task === undefined ? {} : { moved: movedTask(this.id, task.mark, movedTo) }),
      ...(run.incremental ? { page: VISITED } : {}),
    };
    const reply = await world.ask((store) => store.port.settle(this.id, name, settlement));
    const isLacking = this.outcome.kind === 'done' && tally !== undefined && !holds(task?.tally, tally);
    const outcome: Outcome = isLacking ? { kind: 'defer' } : this.outcome;
    expect(reply).toBe(task === undefined ? 'already' : isLacking ? 'put_back' : 'settled');
    if (reply === 'settled' && this.outcome.kind === 'done')
      expect(
        visit?.offers.filter((offer) => !model.offers.has(offer)) ?? [],
        'a page is done, its links are lost',
      ).toEqual([]);
    if (this.again) expect(await world.ask((store) => store.port.settle(this.id, name, settlement))).toBe('already');
    if (task !== undefined) {
      if (movedTo !== undefined && movedTo !== task.host) {
        run.trouble.delete(task.host);
        const answered: Settlement = { outcome: { kind: 'defer' }, hostAnswered: true };
        model.host(task.host).settled(run, task.release, answered, {}, model.now);
      }
      if (movedTo !== undefined) run.answered.add(task.host);
      task.host = movedTo ?? task.host;
      const isSilent = model.noteHealth(run, task.host, settlement);
      model
        .host(task.host)
        .settled(run, task.release, { ...settlement, outcome }, { isSilent, isAgain: task.attempts > 0 }, model.now);
      this.#apply(model, run, task, outcome, isSilent);
    }
    model.finishIfDone(run);
  }

  #apply(model: Model, run: ModelRun, task: ModelTask, outcome: Outcome, isSilent: boolean): void {
    const laterBy = (ms: number): number => model.now + Math.min(ms, isSilent ? 15_000 : ms);
    if (outcome.kind === 'retry' || this.health.hostAnswered !== undefined) task.starts = 0;
    else if (task.isAdmitted) task.starts--;
    if (outcome.kind === 'retry') {
      if (run.state !== 'cancelled') task.attempts++;
      model.putBack(run, task, laterBy(outcome.inMs));
    } else if (outcome.kind === 'defer') {
      model.putBack(run, task, outcome.inMs === undefined ? 0 : laterBy(outcome.inMs));
    } else {
      model.end(run, task, outcome.kind, outcome.kind === 'failed' && outcome.reason === 'malformed');
      if (!run.incremental || outcome.kind === 'failed') return;
      model.fetchedAt.set(task.mark, model.now - VISITED.askedMsAgo);
      run.bytesSaved += VISITED.bytesSaved;
      if (run.dedup === 'ever') model.takenBy.set(task.mark, '-');
    }
  }

  override toString(): string {
    return `settle ${this.id} ${this.which} ${JSON.stringify(this.outcome)} ${JSON.stringify(this.health)}${this.again ? ' twice' : ''} ${this.movedTo ?? ''}`;
  }
}

/** The work of a healthy fleet: releases, admits and settles everything that is due, one task after another. */
export class Work extends OnRun {
  readonly outcome: Outcome;
  readonly healths: readonly [Health, Health];

  constructor(id: string, outcome: Outcome, healths: readonly [Health, Health]) {
    super(id);
    this.outcome = outcome;
    this.healths = healths;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    await new Release(50, 1_000, false).run(model, world);
    for (const [index, { release, mark }] of model.inFlight(run).entries()) {
      const name = { release, mark };
      await new Admit(this.id, name).run(model, world);
      if (model.flight(run, name) === undefined) continue;
      await new Settle(this.id, name, this.outcome, this.healths[index % 2 === 0 ? 0 : 1], false).run(model, world);
    }
  }

  override toString(): string {
    return `work ${this.id} ${JSON.stringify(this.outcome)} ${JSON.stringify(this.healths)}`;
  }
}

/** Returns whether the ledger has counted all links that a visit has offered. */
function holds(held: LinkTally | undefined, { stamp, links }: LinkTally): boolean {
  return held?.stamp === stamp && held.links >= links;
}

/** A fleet before it settles pages: releases and admits what is due, and offers links one by one, every other one twice. */
export class Follow extends OnRun {
  readonly paths: readonly number[];

  constructor(id: string, paths: readonly number[]) {
    super(id);
    this.paths = paths;
  }

  protected async act(model: Model, world: World, run: ModelRun): Promise<void> {
    await new Release(50, 1_000, false).run(model, world);
    for (const { release, mark } of model.inFlight(run)) {
      const name = { release, mark };
      await new Admit(this.id, name).run(model, world);
      for (const [index, path] of this.paths.entries())
        await new Offers(this.id, [path], { parent: name, again: index % 2 === 1 }).run(model, world);
    }
  }

  override toString(): string {
    return `follow ${this.id} [${this.paths}]`;
  }
}

function movedTask(run: string, mark: string, host: string): Task {
  const redirects = [`http://${host}/`];
  return { run, url: mark, host, mark, step: '', queue: 'normal', ...INITIAL_FIELDS, redirects };
}
