import { readDeadLetter } from '../../ports/dead-letter.ts';
import type { Forgettable, Forgotten, HowToForget, Marks } from '../../ports/marks.ts';
import { fingerprintOf, hostOfMark } from '../../task/url/fingerprint.ts';
import { isProblem, readUrl } from '../../task/url/url.ts';
import { MARK, ROWS_AT_ONCE } from './database/schema.ts';
import type { LocalStore } from './moves/local-store.ts';

type LetterRow = { readonly n: number; readonly id: string; readonly body: Uint8Array };
type MarkRow = { readonly owner: number; readonly mark: string; readonly bits: number };
/** How many marks were read, and where to continue. */
type ForgottenSome = Forgotten & { readonly read: number; readonly next: MarkRow | undefined };

/** The marks of all local runs. */
export class SqliteMarks implements Marks {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async ofRun(id: string, marks: readonly string[]): Promise<readonly boolean[]> {
    return await this.#store.move((moves) => {
      const run = moves.run(id);
      return marks.map(
        (mark) => run !== undefined && moves.marks.has(run.n, mark, MARK.taken | MARK.failed | MARK.visited),
      );
    });
  }

  async forget(which: Forgettable, { isDry = false, onMarks }: HowToForget = {}): Promise<Forgotten> {
    const total = { forgotten: 0, kept: 0 };
    let after: MarkRow | undefined = { owner: -1, mark: '', bits: 0 };
    while (after !== undefined) {
      const some: ForgottenSome = await this.#forgetSome(which, after, isDry);
      onMarks?.(some.read);
      total.forgotten += some.forgotten;
      total.kept += some.kept;
      after = some.next;
    }
    let from: string | undefined = isDry ? undefined : '';
    while (from !== undefined) from = await this.#forgetPages(which, from);
    return { ...total, letters: await this.#forgetLetters(which, isDry) };
  }

  /** Forgets some marks. */
  async #forgetSome(which: Forgettable, { owner, mark }: MarkRow, isDry: boolean): Promise<ForgottenSome> {
    return await this.#store.move(({ database, marks }) => {
      const rows =
        typeof which === 'object' && 'mark' in which
          ? database.all<MarkRow>(
              'SELECT owner, mark, bits FROM marks WHERE owner > ? AND owner IN (SELECT 0 UNION ALL SELECT n FROM runs) AND mark = ? ORDER BY owner LIMIT ?',
              ...[owner, which.mark, ROWS_AT_ONCE],
            )
          : database.all<MarkRow>(
              'SELECT owner, mark, bits FROM marks WHERE (owner, mark) > (?, ?) ORDER BY owner, mark LIMIT ?',
              ...[owner, mark, ROWS_AT_ONCE],
            );
      const total = { forgotten: 0, kept: 0 };
      const found = rows.filter((row) => isMeant(row.mark, which));
      for (const row of found) {
        const isTaken = (row.bits & MARK.taken) !== 0;
        if (isTaken ? marks.liveTask(row.owner, row.mark) !== undefined : marks.isVisiting(row.owner, row.mark)) {
          if (isTaken) total.kept++;
        } else {
          if (!isDry) database.run('DELETE FROM marks WHERE owner = ? AND mark = ?', row.owner, row.mark);
          // A mark that only says that an incremental run visited the page doesn't count.
          if ((row.bits & (MARK.taken | MARK.failed)) !== 0) total.forgotten++;
        }
      }
      return { ...total, read: rows.length, next: rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1) };
    });
  }

  async #forgetPages(which: Forgettable, from: string): Promise<string | undefined> {
    return await this.#store.move(({ database }) => {
      if (typeof which === 'object' && 'mark' in which) {
        database.run('DELETE FROM pages WHERE mark = ?', which.mark);
        return undefined;
      }
      const rows = database.all<{ mark: string }>(
        'SELECT mark FROM pages WHERE mark > ? ORDER BY mark LIMIT ?',
        from,
        ROWS_AT_ONCE,
      );
      for (const { mark } of rows) if (isMeant(mark, which)) database.run('DELETE FROM pages WHERE mark = ?', mark);
      return rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.mark;
    });
  }

  async #forgetLetters(which: Forgettable, isDry: boolean): Promise<number> {
    let letters = 0;
    let next: number | undefined = 0;
    while (next !== undefined) {
      const from: number = next;
      const some = await this.#store.move(({ database }) => {
        const rows = database.all<LetterRow>(
          'SELECT n, id, body FROM letters WHERE n > ? ORDER BY n LIMIT ?',
          ...[from, ROWS_AT_ONCE],
        );
        const meant = rows.filter((row) => isMeantLetter(row, which));
        if (!isDry) for (const { n } of meant) database.run('DELETE FROM letters WHERE n = ?', n);
        return { found: meant.length, next: rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.n };
      });
      letters += some.found;
      next = some.next;
    }
    return letters;
  }
}

/** A letter is kept under its task's id, which has the mark's fingerprint in it. */
function isMeantLetter({ id, body }: LetterRow, which: Forgettable): boolean {
  if (which === 'all') return true;
  if ('mark' in which) return id.endsWith(`:${fingerprintOf(which.mark)}`);
  const letter = readDeadLetter(body);
  const url = letter === undefined ? undefined : readUrl(letter.url);
  return url !== undefined && !isProblem(url) && url.host === which.host;
}

function isMeant(mark: string, which: Forgettable): boolean {
  if (which === 'all') return true;
  return 'mark' in which ? mark === which.mark : hostOfMark(mark) === which.host;
}
