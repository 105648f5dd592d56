import type { TaskOffer } from '../task/task/offer.ts';
import type { FailedReason } from '../task/task/outcome.ts';
import type { DeadLetters, OutgoingMessage } from './transport.ts';

/**
 * The dead letters of one machine, where no broker keeps them. They expire after `LETTER_TTL_MS`, and are deleted with their
 * run. Implementation: `stores/sqlite`, beside the frontier.
 */
export interface LocalLetters extends DeadLetters {
  /** Stores letters, and resolves once they are stored. A new letter replaces the task's earlier one. */
  keep(letters: readonly OutgoingMessage[]): Promise<void>;
  /** Returns the number of letters present. */
  count(): Promise<number>;
  /**
   * Lets failed tasks wait again in the run they failed in, and reopens the run if it has ended. Taking a task and deleting its
   * letter is one step; the caller decides about all other letters. For letters of a group, the group's owner waits again, once
   * for all of them, and the run takes back its counts for the group.
   */
  replay(run: string, tasks: readonly ReplayedTask[]): Promise<LocalReplay>;
}

/** A letter of a run and the task to offer for it: its own, or the owner of its group (`replayOf`). */
export interface ReplayedTask {
  /** The letter's id. */
  readonly id: string;
  readonly reason: FailedReason;
  readonly offer: TaskOffer;
}

/**
 * The fate of each task, in the order given, or why the run takes none: the store doesn't know the run, or it was cancelled.
 *
 * `known`: the task waits or is over, so the letter is of no use. `inFlight`: the task or its group is being worked on, and the
 * result is not known yet.
 */
export type LocalReplay = { readonly refused: 'unknown' | 'cancelled' } | { readonly fates: readonly ReplayFate[] };
export type ReplayFate = 'taken' | 'known' | 'inFlight';
