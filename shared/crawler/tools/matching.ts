/** What the first group of an expression that took part matched, or the whole match if it has no group; undefined without a match. */
export function matchIn(text: string, pattern: RegExp): string | undefined {
  // A copy, because one that searches all keeps its place in itself.
  const found = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(text);
  return found === null ? undefined : taken(found);
}

/** {@link matchIn}, of every match. */
export function matchAllIn(text: string, pattern: RegExp): readonly string[] {
  const all = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
  return [...text.matchAll(all)].flatMap((found) => taken(found) ?? []);
}

function taken(found: RegExpMatchArray): string | undefined {
  return found.length === 1 ? found[0] : found.slice(1).find((group) => group !== undefined);
}
