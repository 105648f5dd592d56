import type { Redis } from 'ioredis';
import {
  type Capacity,
  isAtWork,
  type LiveWorker,
  type Roster,
  WORKER_SILENT_MS,
  type WorkerBeat,
} from '../../ports/roster.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

interface Entry extends WorkerBeat {
  /** Epoch milliseconds, by Redis' clock. */
  readonly beat: number;
}

/** Fields that every beat has. */
const TEXTS = ['id', 'host', 'version', 'bound', 'state'] as const satisfies readonly (keyof Entry)[];
const NUMBERS = ['beat', 'slots', 'inHand'] as const satisfies readonly (keyof Entry)[];

/**
 * The workers of a fleet: one hash, worker → JSON that reads well in `redis-cli hgetall workers`. Beside it a small one, worker → its slots
 * and its last beat.
 */
export class RedisRoster implements Roster {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #slotsKey: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#redis = redis;
    this.#key = `${prefix}workers`;
    this.#slotsKey = `${prefix}workers:slots`;
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async beat(worker: WorkerBeat): Promise<void> {
    await this.#scripts.run('roster', worker.id, JSON.stringify(worker), isAtWork(worker) ? 1 : 0, worker.slots);
  }

  async leave(id: string): Promise<void> {
    await this.#forget([id]);
  }

  async workers(): Promise<readonly LiveWorker[]> {
    const [now, entries] = await Promise.all([this.#scripts.run('now'), this.#redis.hgetall(this.#key)]);
    const live: LiveWorker[] = [];
    const gone: string[] = [];
    for (const [id, text] of Object.entries(entries)) {
      const entry = readEntry(text);
      // It belongs to another program that uses the same key: it stays.
      if (entry === undefined) continue;
      const { beat, ...worker } = entry;
      const silentMs = Math.max(0, Number(now) - beat);
      if (silentMs > WORKER_SILENT_MS) gone.push(id);
      else live.push({ ...worker, silentMs });
    }
    await this.#forgetIfAllowed(gone);
    return live;
  }

  async capacity(): Promise<Capacity> {
    const [now, entries] = await Promise.all([this.#scripts.run('now'), this.#redis.hgetall(this.#slotsKey)]);
    const gone: string[] = [];
    let [workers, slots] = [0, 0];
    for (const [id, text] of Object.entries(entries)) {
      const [own = Number.NaN, beat = Number.NaN] = text.split(' ').map(Number);
      // It belongs to another program: it stays.
      if (Number.isNaN(own + beat)) continue;
      if (Number(now) - beat > WORKER_SILENT_MS) {
        gone.push(id);
        continue;
      }
      workers++;
      slots += own;
    }
    await this.#forgetIfAllowed(gone);
    return { workers, slots };
  }

  /** Forgets workers. They stay if this user may only read, or if the server takes no writes. */
  async #forgetIfAllowed(gone: readonly string[]): Promise<void> {
    if (gone.length > 0) await this.#forget(gone).catch(() => {});
  }

  async #forget(ids: readonly string[]): Promise<void> {
    await Promise.all([this.#redis.hdel(this.#key, ...ids), this.#redis.hdel(this.#slotsKey, ...ids)]);
  }
}

/** Reads an entry; undefined if it isn't a beat. */
function readEntry(text: string): Entry | undefined {
  let read: Partial<Entry> | null;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isBeat =
    TEXTS.every((name) => typeof read?.[name] === 'string') &&
    NUMBERS.every((name) => typeof read?.[name] === 'number');
  return isBeat ? (read as Entry) : undefined;
}
