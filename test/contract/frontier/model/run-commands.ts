import { expect } from 'vitest';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { type Model, type ModelRun, SLOW_INTERVAL_MS } from './model.ts';
import type { Command, World } from './world.ts';

const BASE: RunOptions = { ...FAST_RUN, dedup: 'ever' };

/** The runs of the model: two that share all marks, one with its own marks, one with a pace, and incremental ones. */
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

/** A command on a known run. Afterwards checks every run against the model, except during a replay. */
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
    if (model.isRepeating) return;
    model.expectOneLiveTaskPerMark();
    await Promise.all(
      [...model.runs.values()].map(async (each) => {
        const asked = world.ask((store) => store.runs.progress(each.id));
        await world.ask((store) => store.runs.hosts(each.id, 10));
        model.expectProgress(each, await asked);
        const standing = world.ask((store) => store.runs.standing(each.id));
        expect(await standing).toMatchObject({ state: each.state, hasEnded: each.ended });
      }),
    );
    const open = [...model.runs.values()].filter(({ ended }) => !ended).length;
    expect(await world.ask((store) => store.runs.counts())).toEqual({ known: model.runs.size, open });
  }

  protected abstract act(model: Model, world: World, run: ModelRun): Promise<void>;
}

export class Open implements Command {
  readonly id: string;
  readonly producer: string;
  readonly input: string;

  constructor(id: string, producer: string, input: string) {
    this.id = id;
    this.producer = producer;
    this.input = input;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const { input } = this;
    const { how } = await world.ask((store) => store.runs.open(this.id, options(this.id), this.producer, { input }));
    let run = model.run(this.id);
    if (run?.state === 'cancelled') {
      expect(how).toBe('cancelled');
      return;
    }
    expect(how).toBe(run === undefined ? 'created' : run.state === 'finished' ? 'reopened' : 'joined');
    if ([...model.runs.values()].every(({ ended }) => ended)) model.tryHosts();
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
        answered: new Set(),
        trouble: new Map(),
        hostsDown: 0,
        namedDown: new Map(),
        lastRelease: 0,
        bytesSaved: 0,
        leftOut: { maxPages: 0, limit: 0 },
      };
      model.runs.set(this.id, run);
    } else if (run.state === 'finished') {
      run.state = 'running';
      run.ended = false;
    }
    run.producers.set(this.producer, { till: model.now + 60_000, input });
  }

  toString(): string {
    return `open ${this.id} ${this.producer} reads ${this.input}`;
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
    const sealed = run.producers.get(this.producer ?? '');
    if (this.producer === undefined) {
      run.producers.clear();
      run.completed++;
    } else if (sealed !== undefined) {
      run.producers.delete(this.producer);
      run.completed++;
      for (const [id, { till, input }] of run.producers)
        if (till < model.now && input === sealed.input) run.producers.delete(id);
    }
    model.finishIfDone(run);
  }

  override toString(): string {
    return `seal ${this.id} ${this.producer ?? ''}`;
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
    if (this.wanted === 'resume' && run.state === 'paused') run.trouble.clear();
    run.state = ({ pause: 'paused', resume: 'running', cancel: 'cancelled' } as const)[this.wanted];
    if (run.state === 'cancelled') run.producers.clear();
    model.finishIfDone(run);
  }

  override toString(): string {
    return `${this.wanted} ${this.id}`;
  }
}
