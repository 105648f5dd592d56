import { afterAll, beforeAll } from 'vitest';

/** What is told how to close something; what was opened last is closed first. */
export type AtEnd = (close: () => Promise<void>) => void;

/**
 * What the tests of a suite only look at: opened once, before the first of them, and closed after the last. To be called in the
 * suite; tests call what it returns.
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
