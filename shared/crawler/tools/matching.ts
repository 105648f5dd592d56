/** Returns the first group of an expression that took part in the match, or the whole match if it has no groups; undefined without a match. */
export function matchIn(text: string, pattern: RegExp): string | undefined {
  // A copy without `g` and `y`, because with them the expression would remember where it last matched.
  const found = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(text);
  return found === null ? undefined : taken(found);
}

/** Returns the same as {@link matchIn}, for every match. */
export function matchAllIn(text: string, pattern: RegExp): readonly string[] {
  const all = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
  return [...text.matchAll(all)].flatMap((found) => taken(found) ?? []);
}

function taken(found: RegExpMatchArray): string | undefined {
  return found.length === 1 ? found[0] : found.slice(1).find((group) => group !== undefined);
}
