import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { CALLED_EACH_PAGE } from '../../shared/stores/redis/frontier.ts';
import { CALLED_EACH_REQUEST } from '../../shared/stores/redis/host-gate.ts';
import { joinScripts, readScript, type ScriptName } from '../../shared/stores/redis/script-text.ts';

/** The work of Redis during a period. */
export interface RedisSpan {
  readonly seconds: number;
  readonly scripts: number;
  /** Percent of one core. */
  readonly cpuPercent: number;
  /** The longest time that each script held Redis, by its name. It includes pauses of the machine. */
  readonly longest: readonly (readonly [name: string, ms: number])[];
}

const TIMED = [
  ...['admit', 'fail', 'gate', 'leave', 'offer', 'open', 'pause_host', 'paused', 'progress', 'queued', 'reap'],
  ...['release', 'renew', 'roster', 'settle', 'sweep', 'drain'],
] as const satisfies readonly ScriptName[];

/** Measures the work of Redis between `start` and `stop`, by Redis' own counts, slow log and CPU time. */
export class RedisFigures {
  readonly #redis: Redis;
  readonly #names = new Map([
    ...TIMED.map((name) => [hash('sha1', readScript(name)), name] as const),
    ...[CALLED_EACH_PAGE, CALLED_EACH_REQUEST].map(
      (names) => [hash('sha1', joinScripts(names)), names.join(' or ')] as const,
    ),
  ]);
  #from = { at: 0, cpu: 0 };

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async start(): Promise<void> {
    await this.#redis.config('SET', 'slowlog-max-len', '50000');
    await this.#redis.config('SET', 'slowlog-log-slower-than', '1000');
    await this.#redis.slowlog('RESET');
    await this.#redis.config('RESETSTAT');
    this.#from = { at: performance.now(), cpu: await this.#cpuSeconds() };
  }

  async stop(): Promise<RedisSpan> {
    const seconds = (performance.now() - this.#from.at) / 1_000;
    const cpu = (await this.#cpuSeconds()) - this.#from.cpu;
    const calls = /^cmdstat_evalsha:calls=(\d+)/m.exec(await this.#redis.info('commandstats'))?.[1];
    return { seconds, scripts: Number(calls ?? 0), cpuPercent: (100 * cpu) / seconds, longest: await this.#longest() };
  }

  /** Returns the bytes that the data in Redis take, without those of connections. */
  async memory(): Promise<number> {
    return Number(/^used_memory_dataset:(\d+)/m.exec(await this.#redis.info('memory'))?.[1]);
  }

  async #longest(): Promise<(readonly [string, number])[]> {
    const entries = (await this.#redis.slowlog('GET', -1)) as readonly (readonly [number, number, number, string[]])[];
    const longest = new Map<string, number>();
    for (const [, , us, [command, sha = '']] of entries) {
      if (command !== 'evalsha') continue;
      const name = this.#names.get(sha) ?? sha;
      longest.set(name, Math.max(longest.get(name) ?? 0, us / 1_000));
    }
    return [...longest].sort((a, b) => b[1] - a[1]);
  }

  async #cpuSeconds(): Promise<number> {
    const info = await this.#redis.info('cpu');
    const of = (field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1]);
    return of('used_cpu_user') + of('used_cpu_sys');
  }
}
