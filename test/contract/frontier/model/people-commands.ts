import { expect } from 'vitest';
import type { Forgettable } from '../../../../shared/ports/marks.ts';
import { FIRST_STEP, hostOfMark, markOf } from '../../../../shared/task/url/fingerprint.ts';
import { FAST_HOSTS, HOSTS, type Model, type ModelRun } from './model.ts';
import type { Command, World } from './world.ts';

/** Returns a URL that random offers also use. */
function urlOf(path: number): { readonly mark: string; readonly host: string } {
  const host = FAST_HOSTS[path % FAST_HOSTS.length] ?? '';
  return { mark: markOf(`http://${host}/${path}`, path % 5 === 2 ? 'product' : FIRST_STEP), host };
}

function isLive({ tasks }: ModelRun, mark: string): boolean {
  return tasks.some((task) => task.mark === mark && (task.where === 'waiting' || task.where === 'flight'));
}

/** A person reads all overviews and traces a URL in every run. */
export class Look implements Command {
  readonly path: number;

  constructor(path: number) {
    this.path = path;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const url = urlOf(this.path);
    expect(await world.ask(({ biographer }) => biographer.isKnown(url.mark))).toBe(model.crawled.has(url.mark));
    expect(await world.ask(({ runs }) => runs.list(100))).toHaveLength(model.runs.size);
    // Runs opened in the same millisecond have no order, nor do hosts paused in the same millisecond.
    await world.ask(async ({ runs }) => new Set(await runs.listOpen(100)));
    await world.ask(async ({ hosts }) => new Set(await hosts.paused(10)));
    await world.ask(({ hosts }) => hosts.due());
    await world.ask(({ hosts }) => hosts.oldestDueMs());
    for (const run of model.runs.values()) await this.#ask(run, model, world);
  }

  async #ask(run: ModelRun, model: Model, world: World): Promise<void> {
    const url = urlOf(this.path);
    const trace = await world.ask(({ biographer }) => biographer.trace(run.id, url));
    expect(trace?.place !== undefined, `${run.id} has ${url.mark} at a place`).toBe(isLive(run, url.mark));
    expect(trace?.hasFailed).toBe(run.failedMarks.has(url.mark));
    expect(trace?.isMarked).toBe(model.marks(run).has(url.mark));
  }

  toString(): string {
    return `look ${this.path}`;
  }
}

const PAUSE_MS = 900_000;

/** Pauses a host for a while, resumes it, or pauses it by hand and resumes it at once. */
export class SteerHost implements Command {
  readonly host: string;
  readonly wanted: 'pause' | 'resume' | 'pause by hand and resume';

  constructor(host: string, wanted: SteerHost['wanted']) {
    this.host = host;
    this.wanted = wanted;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const host = model.host(this.host);
    if (this.wanted === 'pause') {
      await world.ask(({ gate }) => gate.pause(this.host, PAUSE_MS, 'they called'));
      host.pause(PAUSE_MS, model.now);
      return;
    }
    const isByHand = this.wanted !== 'resume';
    if (isByHand) {
      const before = await world.ask(({ gate }) => gate.pauseByHand(this.host, 'they called'));
      expect(before !== undefined).toBe(host.isPaused(model.now));
      host.pause(PAUSE_MS, model.now);
    }
    const was = await world.ask(({ gate }) => gate.resume(this.host));
    expect(was?.byHand).toBe(host.isPaused(model.now) ? isByHand : undefined);
    if (host.resume(model.now)) for (const run of model.runs.values()) if (!run.ended) run.trouble.delete(this.host);
  }

  toString(): string {
    return `${this.wanted} host ${this.host}`;
  }
}

/** A person has a URL, a host or everything forgotten; never while a claim exists, since claims end with their tasks. */
export class Forget implements Command {
  readonly which: Forgettable;

  constructor(which: number | 'host' | 'all') {
    if (typeof which === 'number') this.which = { mark: urlOf(which).mark };
    else this.which = which === 'host' ? { host: HOSTS[1] } : 'all';
  }

  check(model: Readonly<Model>): boolean {
    return [...model.runs.values()].every(({ claims }) => claims.size === 0);
  }

  async run(model: Model, world: World): Promise<void> {
    const { forgotten, kept } = await world.ask(async ({ marks }) => {
      const counted = await marks.forget(this.which, { isDry: true });
      const { letters: _, ...told } = await marks.forget(this.which);
      expect(counted, 'a dry call says the same').toMatchObject(told);
      return told;
    });
    expect({ forgotten, kept }).toEqual(this.#forgetIn(model));
  }

  #forgetIn(model: Model): { readonly forgotten: number; readonly kept: number } {
    const runs = [...model.runs.values()];
    const sharing = runs.filter(({ dedup }) => dedup === 'ever');
    const counts = { forgotten: 0, kept: 0 };
    const forget = (marks: Set<string>, of: readonly ModelRun[], counted = counts): void => {
      for (const mark of [...marks].filter((each) => this.#isMeant(each))) {
        if (of.some((run) => isLive(run, mark))) counted.kept++;
        else {
          marks.delete(mark);
          counted.forgotten++;
        }
      }
    };
    forget(model.crawled, sharing);
    for (const run of runs) {
      forget(run.seen, [run]);
      forget(run.failedMarks, []);
      // Not counted here: these marks are already counted among the shared ones.
      forget(run.taken, [run], { forgotten: 0, kept: 0 });
    }
    for (const pages of [model.fetchedAt, model.takenBy])
      for (const mark of [...pages.keys()].filter((each) => this.#isMeant(each))) pages.delete(mark);
    return counts;
  }

  #isMeant(mark: string): boolean {
    if (this.which === 'all') return true;
    return 'mark' in this.which ? mark === this.which.mark : hostOfMark(mark) === this.which.host;
  }

  toString(): string {
    return `forget ${JSON.stringify(this.which)}`;
  }
}
