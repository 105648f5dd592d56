/** Yields a list in parts of this size; the last may be shorter. */
export function* partsOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size);
}
