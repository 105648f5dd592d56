const asked = process.env.FAULT_FORM ?? (process.env.CI === 'true' ? 'short' : '');

/** `short` in CI and with `FAULT_FORM=short`; otherwise `as written`, with the times of the matrix. */
export const FORM = asked === 'short' ? 'short' : 'as written';

/** Returns one of two values by the form of this run. */
export function inForm<T>(asWritten: T, short: T): T {
  return FORM === 'short' ? short : asWritten;
}

/** Rounds of each row. */
export const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1);

/** The seed of a round: `FAULT_SEED` repeats the first one. */
export function seedOf(round: number): number {
  return (
    (process.env.FAULT_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(process.env.FAULT_SEED)) +
    round
  );
}

/** Returns a generator of numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
