import { hash } from 'node:crypto';
import { authorityOf, withoutCredentialsIn, withoutRootDot } from './url.ts';

/** The first step of a crawler: its name is left out of marks, so that `crawled_urls` holds plain URLs. */
export const FIRST_STEP = '';

/**
 * The mark that says one step of one URL is taken. A URL contains no space, so its parts can't be confused.
 *
 * | the task                                | its mark                                          |
 * |-----------------------------------------|---------------------------------------------------|
 * | of the first step                       | the URL's key in its run                          |
 * | of another step                         | `<step> <key>`                                    |
 * | whose request isn't a plain GET         | `<step> <key> <digest>`, the first step being empty |
 * | of a group                              | the same, and ` @<group>`                         |
 */
export function markOf(key: string, step: string = FIRST_STEP, digest?: string, group?: string): string {
  const own = digest !== undefined ? `${step} ${key} ${digest}` : step === FIRST_STEP ? key : `${step} ${key}`;
  return group === undefined ? own : `${own} @${group}`;
}

/** The key of a URL, from its mark. */
export function keyOfMark(mark: string): string {
  const start = mark.indexOf(' ') + 1;
  if (start === 0) return mark;
  const end = mark.indexOf(' ', start);
  return mark.slice(start, end < 0 ? undefined : end);
}

/** The step in a URL's mark. */
export function stepOfMark(mark: string): string {
  const space = mark.indexOf(' ');
  return space < 0 ? FIRST_STEP : mark.slice(0, space);
}

/** The politeness key in a mark, or in a serialised URL; empty for a text that isn't a URL. */
export function hostOfMark(mark: string): string {
  return withoutRootDot(authorityOf(mark));
}

/** The pseudo host of texts that aren't URLs. No host name contains a question mark. */
export const MALFORMED_HOST = '?';

/** The longest mark of a text that isn't a URL. */
export const MAX_MALFORMED_MARK_LENGTH = 2_048;

/**
 * The mark of a text that isn't a URL: {@link malformedTextOf}. One of several words stands behind two blanks, with which no other mark
 * begins: `product https://shop.example/1` is the mark of a page for a step, and a sitemap may hold such a text.
 */
export function malformedMarkOf(text: string): string {
  const shown = malformedTextOf(text);
  return shown.includes(' ') ? `  ${shown}` : shown;
}

/** A text that isn't a URL as it is shown: cut, on one line, without credentials. */
export function malformedTextOf(text: string): string {
  return withoutCredentialsIn(text.replaceAll(/[\u0000-\u0020\u007f]+/g, ' ').trim()).slice(
    0,
    MAX_MALFORMED_MARK_LENGTH,
  );
}

/** The first 128 bits of a mark's SHA-256, as hex: enough that no two URLs of a run collide. */
export function fingerprintOf(mark: string): string {
  return hash('sha256', mark).slice(0, 32);
}

/** The id of a task: `<run>:<fingerprint>`. */
export function taskIdOf(run: string, mark: string): string {
  return `${run}:${fingerprintOf(mark)}`;
}
