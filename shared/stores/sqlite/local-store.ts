import type { Clock } from '../../runtime/clock.ts';
import type { LocalDatabase } from './database.ts';
import { Moves } from './moves.ts';

/** What all ports of the local store stand on: calls that see the database at one moment of one clock. */
export class LocalStore {
  readonly database: LocalDatabase;
  readonly clock: Pick<Clock, 'now'>;

  constructor({ database, clock }: { readonly database: LocalDatabase; readonly clock: Pick<Clock, 'now'> }) {
    this.database = database;
    this.clock = clock;
  }

  /** One call: all that `work` changes is kept, or nothing. */
  async move<T>(work: (moves: Moves) => T): Promise<T> {
    return await this.database.call(() => {
      const moves = new Moves(this.database, Math.floor(this.clock.now()));
      const result = work(moves);
      moves.flush();
      return result;
    });
  }
}
