import type { Redis } from 'ioredis';
import { isAtWork, type LiveWorker, type Roster, WORKER_SILENT_MS, type WorkerBeat } from '../../ports/roster.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

interface Entry extends WorkerBeat {
  /** Epoch milliseconds, by Redis' clock. */
  readonly beat: number;
}

/** Fields that every beat has. */
const TEXTS = ['id', 'host', 'version', 'bound', 'state'] as const satisfies readonly (keyof Entry)[];
const NUMBERS = ['beat', 'slots', 'inHand'] as const satisfies readonly (keyof Entry)[];

/** The workers of a fleet: one hash, worker → JSON that reads well in `redis-cli hgetall workers`. */
export class RedisRoster implements Roster {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#redis = redis;
    this.#key = `${prefix}workers`;
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async beat(worker: WorkerBeat): Promise<void> {
    await this.#scripts.run('roster', worker.id, JSON.stringify(worker), isAtWork(worker) ? 1 : 0);
  }

  async leave(id: string): Promise<void> {
    await this.#redis.hdel(this.#key, id);
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
    // They stay if this user may only read, or if the server takes no writes.
    if (gone.length > 0) await this.#redis.hdel(this.#key, ...gone).catch(() => {});
    return live;
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
