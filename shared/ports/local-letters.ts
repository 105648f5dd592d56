import type { TaskOffer } from '../task/task/offer.ts';
import type { FailedReason } from '../task/task/outcome.ts';
import type { DeadLetters, OutgoingMessage } from './transport.ts';

/**
 * The dead letters of one machine, where no broker keeps them. Implementation: `stores/sqlite`, beside the frontier. They expire
 * after `LETTER_TTL_MS`, and go with their run.
 */
export interface LocalLetters extends DeadLetters {
  /** Resolves once they are stored. A task has one letter: the newest. */
  keep(letters: readonly OutgoingMessage[]): Promise<void>;
  /** Letters that are there now. */
  count(): Promise<number>;
  /**
   * Lets failed tasks wait again in the run they failed in, and reopens it if it has ended. A letter whose task is taken is deleted with
   * that, in one step; what becomes of the others is for the caller to say. For a letter of a group its owner waits again, once for
   * all of them: the run takes back what it has counted of the group.
   */
  replay(run: string, tasks: readonly ReplayedTask[]): Promise<LocalReplay>;
}

/** A letter of a run, and what it offers: its own task, or the owner of its group (`replayOf`). */
export interface ReplayedTask {
  /** The letter's. */
  readonly id: string;
  readonly reason: FailedReason;
  readonly offer: TaskOffer;
}

/**
 * What became of each task, in their order, or why the run takes none: nobody knows it, or it was cancelled.
 *
 * `known`: it waits, or is over, and has no use for the letter. `inFlight`: it, or its group, is at work now, and how that ends isn't
 * known.
 */
export type LocalReplay = { readonly refused: 'unknown' | 'cancelled' } | { readonly fates: readonly ReplayFate[] };
export type ReplayFate = 'taken' | 'known' | 'inFlight';
