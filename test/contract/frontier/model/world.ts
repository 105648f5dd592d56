import { isDeepStrictEqual } from 'node:util';
import type fc from 'fast-check';
import { expect } from 'vitest';
import { nameOf, type ReleasedTask, type ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import type { Store } from '../../../support/stores/stores.ts';
import type { Model } from './model.ts';
import type { ModelVisit } from './visits.ts';

export type Command = fc.AsyncCommand<Model, World>;

/** A message of a release: once it was given, it may come at any time, whatever the store has lost since. */
export interface Message extends ReleaseName {
  readonly run: string;
}

/** The stores under test, asked side by side: whatever one answers, all must. */
export class World {
  readonly #open: () => Promise<Store[]>;
  #stores: Store[] = [];
  /** Every message that was ever given. */
  messages: Message[] = [];
  /** What workers have in hand, and how many stamps were drawn. */
  visits: readonly ModelVisit[] = [];
  stamps = 0;
  /** What has happened so far, and how much of it a power cut would leave: all up to the last whole second. */
  history: Command[] = [];
  saved = 0;
  /** A store came back with an earlier time: numbers that it gave may come again. */
  numbersMayRepeat = false;

  constructor(open: () => Promise<Store[]>) {
    this.#open = open;
  }

  /** Empty stores, at the beginning of their time. */
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

  /** Asks every store the same, expects the same answer of all, and returns it. */
  async ask<T>(question: (store: Store) => Promise<T>): Promise<T> {
    const answers = await Promise.all(this.#stores.map(question));
    const [first, ...others] = answers as [T, ...T[]];
    for (const other of others) {
      // `expect` takes a tenth of a history, and stores that agree in everything need none.
      if (!isDeepStrictEqual(other, first)) expect(other, 'the stores agree').toEqual(first);
    }
    return first;
  }

  /** A message goes out. */
  gave(released: ReleasedTask): void {
    const message = { run: released.task.run, ...nameOf(released) };
    expect(Number.isSafeInteger(message.release), 'a number is exact').toBe(true);
    const isGivenTwice = this.messages.some(({ run, release }) => run === message.run && release === message.release);
    if (!this.numbersMayRepeat) expect(isGivenTwice, 'a release number is never given twice').toBe(false);
    this.messages.push(message);
  }

  /** A store learns of its clock when it is asked something. */
  async #tick(): Promise<void> {
    await this.ask((store) => store.gate.ask('tick.test', { intervalMs: 0, concurrency: 0 }, 'tick'));
  }
}
