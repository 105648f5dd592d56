import { afterAll, beforeAll } from 'vitest';

/** Registers a function that closes something. The last one registered runs first. */
export type AtEnd = (close: () => Promise<void>) => void;

/**
 * Opens something that the tests of a suite only read: once, before the first of them, and closes it after the last. Call it in the
 * suite; tests call the function that it returns.
 */
export function sharedByTests<T>(open: (atEnd: AtEnd) => Promise<T>): () => T {
  const closings: (() => Promise<void>)[] = [];
  let shared: { readonly opened: T } | undefined;
  beforeAll(async () => {
    shared = { opened: await open((close) => void closings.unshift(close)) };
  });
  afterAll(async () => {
    for (const close of closings) await close();
  });
  return () => {
    if (shared === undefined) throw new Error('expected a test of the suite to ask for it');
    return shared.opened;
  };
}
