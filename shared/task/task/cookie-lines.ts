/**
 * A cookie set by a redirect: the URL that set it, and its `Set-Cookie` line. Such lines travel with a redirected task until it
 * has its page, and are not part of its record or dead letter.
 */
export type CookieLine = readonly [url: string, line: string];

/** Maximum cookies that a task carries, and their characters including the URLs. Beyond either, the oldest are dropped. */
export const MOST_COOKIE_LINES = 50;
export const MAX_COOKIE_LINES_LENGTH = 16_384;

/** Adds lines to those of a task, within the limits. */
export function withCookies(
  before: readonly CookieLine[] | undefined,
  url: string,
  lines: readonly string[],
): readonly CookieLine[] | undefined {
  if (lines.length === 0) return before;
  const all = [...(before ?? []), ...lines.map((line): CookieLine => [url, line])].slice(-MOST_COOKIE_LINES);
  let length = 0;
  const kept: CookieLine[] = [];
  for (const each of all.reverse()) {
    length += each[0].length + each[1].length;
    if (length > MAX_COOKIE_LINES_LENGTH) break;
    kept.push(each);
  }
  return kept.length === 0 ? undefined : kept.reverse();
}
