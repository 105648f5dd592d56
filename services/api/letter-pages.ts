import { z } from 'zod';
import type { FoundLetter } from '../../shared/control/letters/letter-filter.ts';
import { compareKeys, letterKey } from '../../shared/control/letters/letter-list.ts';
import { PageCursor } from './http/page-cursor.ts';

/** The key of a page's last letter, and which of the letters with that key it was: foreign messages can share a key. */
const places = new PageCursor(z.tuple([z.string(), z.string(), z.int().min(1)]));

/**
 * Returns one page of letters in the order of their keys, and a cursor for the next. Letters that expire, are deleted or come in between
 * shift nothing: each letter that stays and has an id is on exactly one page.
 *
 * @param cursor `next` of the previous page; undefined for the first
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
  return { page, next: places.written([key.time, key.id, first + page.length - same]) };
}

function firstBehind(found: readonly FoundLetter[], cursor: string): number {
  const [time, id, nth] = places.read(cursor);
  let at = found.findIndex((letter) => compareKeys(letterKey(letter), { time, id }) >= 0);
  if (at < 0) return found.length;
  for (let skipped = 0; skipped < nth; skipped++) {
    const letter = found[at];
    if (letter === undefined || compareKeys(letterKey(letter), { time, id }) !== 0) break;
    at++;
  }
  return at;
}
