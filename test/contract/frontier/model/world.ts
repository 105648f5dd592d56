import { isDeepStrictEqual } from 'node:util';
import type fc from 'fast-check';
import { expect } from 'vitest';
import { nameOf, type ReleasedTask, type ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import type { Store } from '../../../support/stores/stores.ts';
import type { Model } from './model.ts';
import type { ModelVisit } from './visits.ts';

export type Command = fc.AsyncCommand<Model, World>;

/** A message of a release. Once sent, it can arrive at any time, whatever the store has lost since. */
export interface Message extends ReleaseName {
  readonly run: string;
}

/** The stores under test, asked side by side. All must give the same answer. */
export class World {
  readonly #open: () => Promise<Store[]>;
  #stores: Store[] = [];
  /** Every message ever sent. */
  messages: Message[] = [];
  /** The visits of workers, and the number of stamps used so far. */
  visits: readonly ModelVisit[] = [];
  stamps = 0;
  /** The commands so far, and how many of them a power cut would leave: all up to the last save. */
  history: Command[] = [];
  saved = 0;
  /** Whether a store came back with an earlier time, so that release numbers can repeat. */
  numbersMayRepeat = false;

  constructor(open: () => Promise<Store[]>) {
    this.#open = open;
  }

  /** Opens empty stores. */
  async begin(): Promise<void> {
    await this.close();
    this.#stores = await this.#open();
    this.messages = [];
    this.visits = [];
    this.stamps = 0;
    await this.#tick();
  }

  async close(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close();
  }

  async step(ms: number): Promise<void> {
    for (const store of this.#stores) store.step(ms);
    await this.#tick();
  }

  /** Asks every store the same question, expects the same answer from all, and returns it. */
  async ask<T>(question: (store: Store) => Promise<T>): Promise<T> {
    const answers = await Promise.all(this.#stores.map(question));
    const [first, ...others] = answers as [T, ...T[]];
    for (const other of others) {
      // `expect` would take a tenth of the time of a history, and stores that agree do not need it.
      if (!isDeepStrictEqual(other, first)) expect(other, 'the stores agree').toEqual(first);
    }
    return first;
  }

  /** Records the message of a released task. */
  gave(released: ReleasedTask): void {
    const message = { run: released.task.run, ...nameOf(released) };
    expect(Number.isSafeInteger(message.release), 'a number is exact').toBe(true);
    const isGivenTwice = this.messages.some(({ run, release }) => run === message.run && release === message.release);
    if (!this.numbersMayRepeat) expect(isGivenTwice, 'a release number is never given twice').toBe(false);
    this.messages.push(message);
  }

  /** Asks the stores something, since they read their clock only then. */
  async #tick(): Promise<void> {
    await this.ask((store) => store.gate.ask('tick.test', { intervalMs: 0, concurrency: 0 }, 'tick'));
  }
}
