import type { Clock } from '../../runtime/clock.ts';
import { IN_MEMORY, type LocalDatabase } from './database.ts';
import { Moves } from './moves.ts';

/** What all ports of the local store stand on: calls that see the database at one moment of one clock. */
export class LocalStore {
  readonly database: LocalDatabase;
  readonly clock: Pick<Clock, 'now'>;
  /** The runs that this process has to itself; nothing if nobody else can have any. */
  readonly owned: Set<string> | undefined;

  constructor({ database, clock }: { readonly database: LocalDatabase; readonly clock: Pick<Clock, 'now'> }) {
    this.database = database;
    this.owned = database.path === IN_MEMORY ? undefined : new Set();
    this.clock = clock;
  }

  /** One call: all that `work` changes is kept, or nothing. */
  readonly move = <T>(work: (moves: Moves) => T): Promise<T> =>
    this.database.call(() => {
      const moves = new Moves(this.database, Math.floor(this.clock.now()), this.owned);
      const result = work(moves);
      moves.flush();
      return result;
    });
}
