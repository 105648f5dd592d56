import type { Redis } from 'ioredis';
import type { HostLine, RunCounts, RunOverview, RunTally } from '../../ports/run-overview.ts';
import {
  type OpenedRun,
  type OpenHow,
  PRODUCER_LEASE_MS,
  type RunOptions,
  type RunProgress,
  type RunStanding,
  type RunState,
  type Runs,
  type Steered,
} from '../../ports/runs.ts';
import { DamagedRunError, messageOf } from '../../runtime/errors.ts';
import type { TroubleKind } from '../../task/host/host-trouble.ts';
import { partsOf } from '../../task/parts.ts';
import { newIncarnation } from '../incarnation.ts';
import { CIRCUMSTANCES, readCircumstances } from './circumstances.ts';
import { agreeOnMarks, type MarksForm, marksDiffer } from './forms/marks-form.ts';
import { type ProgressReply, readProgress } from './run-progress.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** Hosts that one script call reads: half a millisecond. */
const HOSTS_AT_ONCE = 100;
/** Runs whose counters one script call reads: half a millisecond. */
const RUNS_AT_ONCE = 100;
/** Values of one run in the answer of `tallies.lua`. */
const TALLY = 7;
/** Values of one host in the answer of `hosts.lua`. */
const LINE = 2 + CIRCUMSTANCES + 3;

interface RedisRunsOptions extends RedisStoreOptions {
  /** The form in which the marks of all runs are kept. */
  readonly marks: MarksForm;
  /** Only the contract suite sets it; random by default. */
  readonly incarnations?: () => string;
}

/** The runs in Redis, beside the frontier: each change is one script of `stores/redis/lua`. */
export class RedisRuns implements Runs, RunOverview {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #marks: MarksForm;
  readonly #scripts: Scripts;
  readonly #incarnations: () => string;

  constructor({ redis, prefix, marks, clock, incarnations = newIncarnation }: RedisRunsOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#marks = marks;
    this.#scripts = new Scripts({ redis, prefix, clock });
    this.#incarnations = incarnations;
  }

  async open(run: string, options: RunOptions, producer: string, more: OpenHow = {}): Promise<OpenedRun> {
    const reply = await this.#scripts.run(
      'open',
      run,
      JSON.stringify(options),
      options.intervalMs,
      options.dedup,
      producer,
      PRODUCER_LEASE_MS,
      this.#marks,
      more.input ?? '',
      options.incremental ? options.recrawlAfterMs : '',
      this.#incarnations(),
      more.incarnation ?? '',
      more.mayRestore === true ? 1 : 0,
      options.joins === undefined ? '' : JSON.stringify(options.joins),
    );
    const [how, own, incarnation] = reply as [OpenedRun['how'] | 'marks', string, string];
    if (how === 'marks') throw marksDiffer(this.#marks, own);
    return { how, options: JSON.parse(own), incarnation };
  }

  async beat(run: string, producer: string): Promise<void> {
    await this.#scripts.run('producer_beat', run, producer, PRODUCER_LEASE_MS);
  }

  async seal(run: string, producer = '', incarnation = ''): Promise<Steered | undefined> {
    return await this.#steered(run, 'seal', producer, incarnation);
  }

  async pause(run: string, reason = ''): Promise<Steered | undefined> {
    return await this.#steered(run, 'steer', 'paused', reason);
  }

  async resume(run: string): Promise<Steered | undefined> {
    return await this.#steered(run, 'steer', 'running', '');
  }

  async cancel(run: string): Promise<Steered | undefined> {
    return await this.#steered(run, 'steer', 'cancelled', '');
  }

  async progress(run: string): Promise<RunProgress | undefined> {
    return await unlessDamaged(run, async () => {
      const reply = (await this.#scripts.run('progress', run)) as ProgressReply;
      return reply.length === 0 ? undefined : readProgress(run, reply);
    });
  }

  async standing(run: string): Promise<RunStanding | undefined> {
    const key = `${this.#prefix}run:${run}`;
    const fields = await unlessDamaged(run, () => this.#redis.hmget(key, 'state', 'incarnation', 'ended_at'));
    const [state, incarnation, endedAt] = fields;
    if (!state) return undefined;
    return { incarnation: incarnation ?? '', state: state as RunState, hasEnded: endedAt !== null };
  }

  async counts(): Promise<RunCounts> {
    const [known, open] = (await this.#scripts.run('run_counts')) as [number, number];
    return { known, open };
  }

  async list(limit: number): Promise<readonly string[]> {
    return await this.#newest('runs', limit);
  }

  async listOpen(limit: number): Promise<readonly string[]> {
    return await this.#newest('runs:open', limit);
  }

  async tallies(limit: number): Promise<readonly RunTally[]> {
    // By name, since a run that is opened between two reads moves others, which then come twice.
    const found = new Map<string, RunTally>();
    for (let from = 0; from < limit; from += RUNS_AT_ONCE) {
      const most = Math.min(RUNS_AT_ONCE, limit - from);
      const reply = (await this.#scripts.run('tallies', from, most)) as (string | number)[];
      const [looked, readAt, ...tallies] = reply;
      for (const [run, ...counts] of partsOf(tallies, TALLY)) {
        const [startedAt = 0, waiting = 0, inFlight = 0, done = 0, skipped = 0, failed = 0] = counts.map(Number);
        const tally = { startedAt, readAt: Number(readAt), waiting, inFlight, done, skipped, failed };
        if (!found.has(String(run))) found.set(String(run), { run: String(run), ...tally });
      }
      if (Number(looked) < RUNS_AT_ONCE) break;
    }
    return [...found.values()];
  }

  async #newest(key: string, limit: number): Promise<readonly string[]> {
    return limit < 1 ? [] : await this.#redis.zrevrange(`${this.#prefix}${key}`, 0, limit - 1);
  }

  async hosts(run: string, limit: number): Promise<readonly HostLine[]> {
    // By name, since a host that moves between two reads comes twice.
    const lines = new Map<string, HostLine>();
    for (let from = 0; from < limit; from += HOSTS_AT_ONCE) {
      const part = await this.#hostsFrom(run, from, Math.min(HOSTS_AT_ONCE, limit - from));
      for (const line of part) if (!lines.has(line.host)) lines.set(line.host, line);
      if (part.length < HOSTS_AT_ONCE) break;
    }
    return [...lines.values()];
  }

  async hostCount(run: string): Promise<number> {
    return await unlessDamaged(run, () => this.#redis.zcard(`${this.#prefix}run:${run}:ready`));
  }

  async #hostsFrom(run: string, from: number, most: number): Promise<HostLine[]> {
    const reply = await unlessDamaged(run, () => this.#scripts.run('hosts', run, from, most));
    const lines: HostLine[] = [];
    for (const [host, waiting, ...circumstances] of partsOf(reply as (string | number)[], LINE)) {
      const [kind, reason, giveUpAt] = circumstances.splice(CIRCUMSTANCES).map(String);
      const at = giveUpAt ? { giveUpAt: Number(giveUpAt) } : {};
      const trouble = kind ? { trouble: { kind: kind as TroubleKind, reason: reason ?? '', ...at } } : {};
      lines.push({ host: String(host), waiting: Number(waiting), ...readCircumstances(circumstances), ...trouble });
    }
    return lines;
  }

  async #steered(run: string, ...[script, ...args]: Parameters<Scripts['run']>): Promise<Steered | undefined> {
    const [was, is] = (await unlessDamaged(run, () => this.#scripts.run(script, run, ...args))) as RunState[];
    return was === undefined || is === undefined ? undefined : { was, is };
  }

  /** @throws ConfigurationError if the marks in Redis have another form than this process' */
  async checkMarks(): Promise<void> {
    await agreeOnMarks(this.#scripts, this.#marks);
  }

  /** Forgets runs that ended longer ago than `retentionMs`. Returns how many, at most ten a call. */
  async sweep(retentionMs: number): Promise<number> {
    return (await this.#scripts.run('sweep', retentionMs, 10)) as number;
  }
}

/** @throws DamagedRunError if the run's data in Redis has the wrong type, or can't be read */
async function unlessDamaged<T>(run: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error: unknown) {
    const isDamaged = error instanceof SyntaxError || /^WRONGTYPE\b/.test(messageOf(error));
    throw isDamaged ? new DamagedRunError(run, messageOf(error).replace(/\.$/, ''), { cause: error }) : error;
  }
}
