/** Unless the caller says otherwise, two names that differ in more than this share of their letters don't resemble each other. */
const MOST_SHARE = 0.4;

/** Minimum length of a given name for prefix matches, which count as one edit. */
const SHORTEST_PART = 4;

/**
 * Returns the known name that differs least from this one, counting letters added, left out, replaced or swapped and ignoring
 * case; nothing if none resembles it.
 */
export function nearestOf(name: string, known: readonly string[], mostShare = MOST_SHARE): string | undefined {
  const given = name.toUpperCase();
  let [nearest, least]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const each of known) {
    const other = each.toUpperCase();
    const isPart = given.length >= SHORTEST_PART && (other.startsWith(given) || given.startsWith(other));
    const distance = isPart ? 1 : distanceOf(given, other);
    if (distance < least && distance <= mostShare * Math.max(given.length, other.length))
      [nearest, least] = [each, distance];
  }
  return nearest;
}

/** Damerau-Levenshtein distance, without edits of swapped letters (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
