import { LETTER_TTL_MS } from '../../ports/dead-letter.ts';
import type { LocalLetters, LocalReplay, ReplayedTask } from '../../ports/local-letters.ts';
import type { DeadLetterMessage, LetterJudge, MessageHeaders, OutgoingMessage } from '../../ports/transport.ts';
import { runNamedBy } from '../../task/task/task.ts';
import { ROWS_AT_ONCE } from './database/schema.ts';
import { forgetEnds } from './moves/ended-groups.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import { replayTasks } from './moves/replaying.ts';

const ENCODER = new TextEncoder();

interface LetterRow {
  readonly n: number;
  readonly id: string;
  readonly headers: string;
  readonly body: Uint8Array;
}

/** The dead letters of all local runs. */
export class SqliteDeadLetters implements LocalLetters {
  readonly #store: LocalStore;
  readonly #ttlMs: number;

  /** @param options.ttlMs only tests set it; `LETTER_TTL_MS` by default */
  constructor({ store, ttlMs = LETTER_TTL_MS }: { readonly store: LocalStore; readonly ttlMs?: number }) {
    this.#store = store;
    this.#ttlMs = ttlMs;
  }

  async keep(letters: readonly OutgoingMessage[]): Promise<void> {
    await this.#store.move((moves) => {
      for (const { id, headers, body } of letters)
        moves.database.run(
          'INSERT OR REPLACE INTO letters (at, run, id, headers, body) VALUES (?, ?, ?, ?, ?)',
          ...[moves.now, moves.run(runNamedBy(id) ?? '')?.n ?? 0, id, JSON.stringify(headers)],
          typeof body === 'string' ? ENCODER.encode(body) : body,
        );
    });
  }

  async count(): Promise<number> {
    return await this.#store.move(({ database, now }) => {
      const found = database.get<{ count: number }>(
        'SELECT count(*) AS count FROM letters WHERE at > ?',
        now - this.#ttlMs,
      );
      return found?.count ?? 0;
    });
  }

  async replay(run: string, tasks: readonly ReplayedTask[]): Promise<LocalReplay> {
    return await this.#store.move((moves) => replayTasks(moves, run, tasks));
  }

  async browse(limit: number): Promise<readonly DeadLetterMessage[]> {
    const found: DeadLetterMessage[] = [];
    let after = 0;
    for (;;) {
      const rows = await this.#after(after, Number.MAX_SAFE_INTEGER, limit - found.length);
      found.push(...rows.map(messageOf));
      if (rows.length < ROWS_AT_ONCE) return found;
      after = rows.at(-1)?.n ?? after;
    }
  }

  async sift(judge: LetterJudge, signal?: AbortSignal): Promise<void> {
    const last = await this.#store.move(
      ({ database }) => database.get<{ n: number | null }>('SELECT max(n) AS n FROM letters')?.n ?? 0,
    );
    let after = 0;
    while (after < last && signal?.aborted !== true) {
      const rows = await this.#after(after, last, ROWS_AT_ONCE);
      if (rows.length === 0) return;
      const fates = await judge(rows.map(messageOf));
      const gone = rows.filter((_, i) => fates[i] === 'delete');
      if (gone.length > 0)
        await this.#store.move(({ database }) => {
          for (const { n } of gone) database.run('DELETE FROM letters WHERE n = ?', n);
        });
      after = rows.at(-1)?.n ?? last;
    }
  }

  async #after(after: number, last: number, limit: number): Promise<LetterRow[]> {
    return await this.#store.move(({ database, now }) =>
      database.all<LetterRow>(
        `SELECT n, id, headers, body FROM letters WHERE n > ? AND n <= ? AND at > ? AND run NOT IN (SELECT run FROM leftovers)
         ORDER BY n LIMIT ?`,
        ...[after, last, now - this.#ttlMs, Math.min(limit, ROWS_AT_ONCE)],
      ),
    );
  }
}

/** Deletes expired letters, the oldest first. Returns whether there may be more. */
export function deleteExpired({ database, now }: Moves): boolean {
  forgetEnds(database, now);
  const oldest = database.get<{ at: number }>('SELECT at FROM letters ORDER BY n LIMIT 1');
  if (oldest === undefined || oldest.at > now - LETTER_TTL_MS) return false;
  const deleted = database.run(
    'DELETE FROM letters WHERE n IN (SELECT n FROM letters ORDER BY n LIMIT ?) AND at <= ?',
    ...[ROWS_AT_ONCE, now - LETTER_TTL_MS],
  );
  return deleted === ROWS_AT_ONCE;
}

function messageOf({ id, headers, body }: LetterRow): DeadLetterMessage {
  return { id, headers: JSON.parse(headers) as MessageHeaders, body };
}
