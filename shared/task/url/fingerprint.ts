import { hash } from 'node:crypto';
import { authorityOf, withoutCredentialsIn, withoutRootDot } from './url.ts';

/** The key of a crawler's first step. It is left out of marks, so that `crawled_urls` holds plain URLs. */
export const FIRST_STEP = '';

/**
 * Makes the mark by which the dedup set knows a task. A URL contains no space, so the parts of a mark can't be confused.
 *
 * | the task                                | its mark                                          |
 * |-----------------------------------------|---------------------------------------------------|
 * | is of the first step                    | the URL's key in its run                          |
 * | is of another step                      | `<step> <key>`                                    |
 * | has a request other than a plain GET    | `<step> <key> <digest>`, where the first step is empty |
 * | belongs to a group                      | one of the above, followed by ` @<group>`         |
 */
export function markOf(key: string, step: string = FIRST_STEP, digest?: string, group?: string): string {
  const own = digest !== undefined ? `${step} ${key} ${digest}` : step === FIRST_STEP ? key : `${step} ${key}`;
  return group === undefined ? own : `${own} @${group}`;
}

/** Returns the URL's key from a mark. */
export function keyOfMark(mark: string): string {
  const start = mark.indexOf(' ') + 1;
  if (start === 0) return mark;
  const end = mark.indexOf(' ', start);
  return mark.slice(start, end < 0 ? undefined : end);
}

/** Returns the step from a URL's mark. */
export function stepOfMark(mark: string): string {
  const space = mark.indexOf(' ');
  return space < 0 ? FIRST_STEP : mark.slice(0, space);
}

/** Returns the politeness key of a mark or a serialised URL; empty for a text that isn't a URL. */
export function hostOfMark(mark: string): string {
  return withoutRootDot(authorityOf(mark));
}

/** The pseudo host for texts that aren't URLs. No host name contains a question mark. */
export const MALFORMED_HOST = '?';

/** Maximum characters of the mark of a text that isn't a URL. */
export const MAX_MALFORMED_MARK_LENGTH = 2_048;

/**
 * Makes the mark of a text that isn't a URL, from {@link malformedTextOf}. A text of several words is preceded by two spaces, which no other
 * mark begins with: a sitemap may contain the text `product https://shop.example/1`, which is also the mark of a page for a step.
 */
export function malformedMarkOf(text: string): string {
  const shown = malformedTextOf(text);
  return shown.includes(' ') ? `  ${shown}` : shown;
}

/** Makes a text that isn't a URL fit to be shown: on one line, without credentials, and cut if it is long. */
export function malformedTextOf(text: string): string {
  return withoutCredentialsIn(text.replaceAll(/[\u0000-\u0020\u007f]+/g, ' ').trim()).slice(
    0,
    MAX_MALFORMED_MARK_LENGTH,
  );
}

/** Returns the first 128 bits of a mark's SHA-256, as hex: enough that no two URLs of a run collide. */
export function fingerprintOf(mark: string): string {
  return hash('sha256', mark).slice(0, 32);
}

/** Makes the id of a task: `<run>:<fingerprint>`. */
export function taskIdOf(run: string, mark: string): string {
  return `${run}:${fingerprintOf(mark)}`;
}
