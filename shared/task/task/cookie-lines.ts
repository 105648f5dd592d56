/**
 * A cookie that a redirect has set: the URL that set it, and its `Set-Cookie` line. They travel with a task that is redirected
 * until it has its page, and are no part of its record or its dead letter.
 */
export type CookieLine = readonly [url: string, line: string];

/** Cookies that a task may carry, and their characters with their URLs; beyond that the oldest are dropped. */
export const MOST_COOKIE_LINES = 50;
export const MAX_COOKIE_LINES_LENGTH = 16_384;

/** The lines with further ones, within the limits. */
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
