import type { Pool } from 'pg';
import type { PageRecord } from '../../ports/record.ts';
import { RecordRefusedError, type Sink } from '../../ports/sink.ts';
import { codeOf, messageOf, UnavailableError } from '../../runtime/errors.ts';
import { recordJson } from '../record-json.ts';
import { UPSERT, withoutRefusedCharacters } from './row.ts';
import { migrate } from './schema.ts';

/** Limits of one statement, in records and in characters of JSON. They bound the time for which other records wait. */
const MOST_RECORDS = 500;
const MOST_CHARACTERS = 8 * 2 ** 20;

interface PendingRecord {
  readonly task: string;
  readonly release: number;
  readonly json: string;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Stores records in the table `trawl_records` of a Postgres, one row per task. Records that arrive while a statement is under
 * way go into the next one together, so that all pages in hand share a round trip and a commit. `put` resolves after the commit.
 *
 * If a statement loses its connection, it is tried once more on another, since an upsert can safely run twice. The sink owns the
 * pool, and ends it when it stops.
 */
export class PostgresSink implements Sink {
  readonly #pool: Pool;
  #waiting: PendingRecord[] = [];
  #writing: Promise<void> | undefined;
  #isReady = false;

  constructor({ pool }: { readonly pool: Pool }) {
    this.#pool = pool;
  }

  /** Connects and brings the schema up to date. */
  async start(): Promise<void> {
    if (this.#isReady) return;
    await migrate(this.#pool);
    this.#isReady = true;
  }

  async put(record: PageRecord): Promise<void> {
    const { task, release } = record;
    const json = withoutRefusedCharacters(recordJson(record));
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ task, release, json, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async stop(): Promise<void> {
    await this.#writing;
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #writeAll(): Promise<void> {
    // Waits for other records that are put in the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#write(this.#takeBatch());
    // Same turn as the last check, so nothing can be put between the two.
    this.#writing = undefined;
  }

  #takeBatch(): readonly PendingRecord[] {
    let [count, characters] = [0, 0];
    while (count < Math.min(this.#waiting.length, MOST_RECORDS)) {
      characters += this.#waiting[count]?.json.length ?? 0;
      if (count > 0 && characters > MOST_CHARACTERS) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly PendingRecord[]): Promise<void> {
    try {
      await this.#upsert(batch);
    } catch (error: unknown) {
      if (!isRefusal(error)) {
        const away = new UnavailableError(`Postgres accepts no records: ${messageOf(error)} (SINK)`, { cause: error });
        for (const { reject } of batch) reject(away);
      } else if (batch.length > 1) {
        // At least one record is at fault. Stores them one by one, to keep the others.
        for (const one of batch) await this.#write([one]);
      } else {
        const message = `Postgres refuses the record: ${messageOf(error)}`;
        batch[0]?.reject(new RecordRefusedError(message, { cause: error }));
      }
      return;
    }
    for (const { resolve } of batch) resolve();
  }

  async #upsert(batch: readonly PendingRecord[]): Promise<void> {
    const values = [`[${rowsOf(batch).join(',')}]`];
    try {
      await this.#query(values);
    } catch (error: unknown) {
      if (!isConnectionLoss(error)) throw error;
      await this.#query(values);
    }
  }

  async #query(values: readonly string[]): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query(UPSERT, [...values]);
    } catch (error: unknown) {
      client.release(!isRefusal(error));
      throw error;
    }
    client.release();
  }
}

/** Returns the JSON of each task's highest release, in the same order in all processes, so that no two statements deadlock. */
function rowsOf(batch: readonly PendingRecord[]): string[] {
  const newest = new Map<string, PendingRecord>();
  for (const waiting of batch) {
    const known = newest.get(waiting.task);
    if (known === undefined || known.release < waiting.release) newest.set(waiting.task, waiting);
  }
  return [...newest.values()].sort((a, b) => (a.task < b.task ? -1 : 1)).map(({ json }) => json);
}

/** Returns whether Postgres refuses the data, by SQLSTATE class: 22 data exception, 23 integrity, 54 limit exceeded (deep nesting). */
function isRefusal(error: unknown): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(codeOf(error) ?? '');
}

/** Returns whether Postgres gave no answer, ends the connection (SQLSTATE 08, 57P) or has rolled back the transaction (40). */
function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  // Every SQLSTATE has a digit; EPIPE has none.
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(08|40|57P)/.test(code);
}
