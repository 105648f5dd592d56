import { expect } from 'vitest';
import type { Store } from '../../support/stores.ts';

/** The stores under test, asked side by side: whatever one answers, all must. */
export class World {
  readonly stores: readonly Store[];

  constructor(stores: readonly Store[]) {
    this.stores = stores;
  }

  step(ms: number): void {
    for (const store of this.stores) store.step(ms);
  }

  /** Asks every store the same, expects the same answer of all, and returns it. */
  async ask<T>(question: (store: Store) => Promise<T>): Promise<T> {
    const answers: T[] = [];
    for (const store of this.stores) answers.push(await question(store));
    const [first, ...others] = answers as [T, ...T[]];
    for (const other of others) expect(other, 'the stores agree').toEqual(first);
    return first;
  }
}
