import { hash } from 'node:crypto';
import { withoutCredentialsIn } from './url.ts';

/** The first step of a crawler: its name is left out of marks, so that `crawled_urls` holds plain URLs. */
export const FIRST_STEP = '';

/**
 * What "taken" means for one step of one URL: what the URL is compared by in its run, with the step in front when it isn't the first. A URL
 * holds no space, so the two can't be confused.
 */
export function markOf(key: string, step: string = FIRST_STEP): string {
  return step === FIRST_STEP ? key : `${step} ${key}`;
}

/** What a URL is compared by, out of its mark. */
export function keyOfMark(mark: string, step: string): string {
  return step === FIRST_STEP ? mark : mark.slice(step.length + 1);
}

/** The step in a mark of a URL. */
export function stepOfMark(mark: string): string {
  const space = mark.indexOf(' ');
  return space < 0 ? FIRST_STEP : mark.slice(0, space);
}

/** The politeness key in a mark, or in a serialised URL; empty for a text that isn't a URL. */
export function hostOfMark(mark: string): string {
  const start = mark.indexOf('://');
  if (start < 0) return '';
  const end = mark.indexOf('/', start + 3);
  const authority = mark.slice(start + 3, end < 0 ? undefined : end);
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/** The pseudo host of texts that aren't URLs. No host name holds a question mark. */
export const MALFORMED_HOST = '?';

/** The longest mark of a text that isn't a URL. */
export const MAX_MALFORMED_MARK_LENGTH = 2_048;

/** The mark of a text that isn't a URL: the text itself, cut, on one line. */
export function malformedMarkOf(text: string): string {
  return withoutCredentialsIn(text.replaceAll(/[\u0000-\u0020\u007f]+/g, ' ').trim()).slice(
    0,
    MAX_MALFORMED_MARK_LENGTH,
  );
}

/** SHA-256 of a mark, its first 128 bits as hex: enough that two URLs of one run never meet. */
export function fingerprintOf(mark: string): string {
  return hash('sha256', mark).slice(0, 32);
}

/** The id of a task: `<run>:<fingerprint>`. */
export function taskIdOf(run: string, mark: string): string {
  return `${run}:${fingerprintOf(mark)}`;
}
