import { z } from 'zod';
import type { FoundLetter } from '../../shared/control/letters/letter-filter.ts';
import { compareKeys, type LetterKey, letterKey } from '../../shared/control/letters/letter-list.ts';
import { Problem } from './http/problem.ts';

/** The letter that a page ended with, by its key, and how many letters with that key came up to it: foreign messages may have the same. */
const placeSchema = z.tuple([z.string(), z.string(), z.int().min(1)]);

/**
 * One page of letters in the order of their keys, and where the next one begins. Letters that expire, are deleted or come between two pages
 * shift none: each that stays, and has an id, is on exactly one page.
 *
 * @param cursor `next` of the page before; the first page without one
 */
export function pageOfLetters(
  found: readonly FoundLetter[],
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): { readonly page: readonly FoundLetter[]; readonly next: string | null } {
  const first = cursor === undefined ? 0 : firstBehind(found, cursor);
  const page = found.slice(first, first + limit);
  const last = page.at(-1);
  if (last === undefined || first + page.length >= found.length) return { page, next: null };
  const key = letterKey(last);
  let same = first + page.length;
  while (same > 0 && compareKeys(letterKey(found[same - 1] as FoundLetter), key) === 0) same--;
  return { page, next: written(key, first + page.length - same) };
}

function firstBehind(found: readonly FoundLetter[], cursor: string): number {
  const [time, id, nth] = read(cursor);
  let at = found.findIndex((letter) => compareKeys(letterKey(letter), { time, id }) >= 0);
  if (at < 0) return found.length;
  for (let skipped = 0; skipped < nth; skipped++) {
    const letter = found[at];
    if (letter === undefined || compareKeys(letterKey(letter), { time, id }) !== 0) break;
    at++;
  }
  return at;
}

function written({ time, id }: LetterKey, nth: number): string {
  return Buffer.from(JSON.stringify([time, id, nth] satisfies z.infer<typeof placeSchema>)).toString('base64url');
}

function read(cursor: string): z.infer<typeof placeSchema> {
  try {
    return placeSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw new Problem('usage', 'querystring.cursor: expected `next` of the answer before');
  }
}
