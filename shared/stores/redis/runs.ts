import type { Redis } from 'ioredis';
import {
  type HostLine,
  type OpenedRun,
  type OpenHow,
  PRODUCER_LEASE_MS,
  type RunOptions,
  type RunProgress,
  type RunState,
  type Runs,
  type SilentProducer,
  type Steered,
} from '../../ports/runs.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newIncarnation } from '../incarnation.ts';
import { CIRCUMSTANCES, readCircumstances } from './circumstances.ts';
import { agreeOnMarks, type MarksForm, marksDiffer } from './marks-form.ts';
import { Scripts } from './scripts.ts';

type Reply = string | number | readonly string[];

interface RedisRunsOptions {
  readonly redis: Redis;
  readonly prefix: string;
  /** The form in which the marks of all runs are kept. */
  readonly marks: MarksForm;
  /** See {@link Scripts}. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Left out everywhere but in the contract suite: random. */
  readonly incarnations?: () => string;
}

/** The runs in Redis, beside the frontier: each change is one script of `stores/redis/lua`. */
export class RedisRuns implements Runs {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #marks: MarksForm;
  readonly #scripts: Scripts;
  readonly #incarnations: () => string;

  constructor({ redis, prefix, marks, clock, incarnations = newIncarnation }: RedisRunsOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#marks = marks;
    this.#scripts = new Scripts(redis, prefix, clock);
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
    );
    const [how, own, incarnation] = reply as [OpenedRun['how'] | 'marks', string, string];
    if (how === 'marks') throw marksDiffer(this.#marks, own);
    return { how, options: JSON.parse(own), incarnation };
  }

  async beat(run: string, producer: string): Promise<void> {
    await this.#scripts.run('beat', run, producer, PRODUCER_LEASE_MS);
  }

  async seal(run: string, producer = '', incarnation = ''): Promise<Steered | undefined> {
    return readSteered(await this.#scripts.run('seal', run, producer, incarnation));
  }

  async pause(run: string, reason = ''): Promise<Steered | undefined> {
    return readSteered(await this.#scripts.run('steer', run, 'paused', reason));
  }

  async resume(run: string): Promise<Steered | undefined> {
    return readSteered(await this.#scripts.run('steer', run, 'running', ''));
  }

  async cancel(run: string): Promise<Steered | undefined> {
    return readSteered(await this.#scripts.run('steer', run, 'cancelled', ''));
  }

  async progress(run: string): Promise<RunProgress | undefined> {
    const reply = (await this.#scripts.run('progress', run)) as Reply[];
    return reply.length === 0 ? undefined : readProgress(run, reply);
  }

  async list(limit: number): Promise<readonly string[]> {
    return await this.#redis.zrevrange(`${this.#prefix}runs`, 0, limit - 1);
  }

  async hosts(run: string, limit: number): Promise<readonly HostLine[]> {
    const reply = (await this.#scripts.run('hosts', run, limit)) as (string | number)[];
    const lines: HostLine[] = [];
    for (let i = 0; i < reply.length; i += 2 + CIRCUMSTANCES) {
      const [host, waiting, ...circumstances] = reply.slice(i, i + 2 + CIRCUMSTANCES);
      lines.push({ host: String(host), waiting: Number(waiting), ...readCircumstances(circumstances) });
    }
    return lines;
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

function readSteered(reply: unknown): Steered | undefined {
  const [was, is] = reply as RunState[];
  return was === undefined || is === undefined ? undefined : { was, is };
}

function readProgress(run: string, reply: readonly Reply[]): RunProgress {
  const [readAt, inFlight, open, lost, silent, ...pairs] = reply;
  const fields = new Map<string, string>();
  const reasons = { failed: {} as Record<string, number>, skipped: {} as Record<string, number> };
  for (let i = 0; i < pairs.length; i += 2) {
    const [name, value] = [String(pairs[i]), String(pairs[i + 1])];
    const [kind, reason] = name.split(':');
    if (reason !== undefined && (kind === 'failed' || kind === 'skipped')) reasons[kind][reason] = Number(value);
    else fields.set(name, value);
  }
  const count = (name: string): number => Number(fields.get(name) ?? 0);
  const endedAt = fields.get('ended_at');
  const pauseReason = fields.get('pause_reason');
  return {
    run,
    incarnation: fields.get('incarnation') ?? '',
    state: fields.get('state') as RunState,
    options: JSON.parse(fields.get('options') ?? '{}'),
    sealed: count('completed') > 0 && Number(open) + Number(lost) === 0,
    discovered: count('discovered'),
    duplicate: count('duplicate'),
    waiting: count('waiting'),
    inFlight: Number(inFlight),
    done: count('done'),
    skipped: count('skipped'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    leftOut: { scope: count('left_out:scope') },
    reasons,
    bytes: count('bytes'),
    bytesSaved: count('bytes_saved'),
    startedAt: count('started_at'),
    ...(endedAt === undefined ? {} : { endedAt: Number(endedAt) }),
    readAt: Number(readAt),
    producers: { open: Number(open), lost: Number(lost), silent: readSilent(silent as string[], Number(readAt)) },
    ...(pauseReason ? { pauseReason } : {}),
  };
}

/** Lost producers, each with the time until which it counted as alive. */
function readSilent(pairs: readonly string[], now: number): SilentProducer[] {
  const silent: SilentProducer[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    silent.push({ id: pairs[i] ?? '', silentMs: now - Number(pairs[i + 1]) + PRODUCER_LEASE_MS });
  }
  return silent;
}
