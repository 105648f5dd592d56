import type { DeadLetters } from '../ports/transport.ts';
import { type FoundLetter, isMeant, type LetterFilter, readLetter } from './letter-filter.ts';

/** Letters that are looked through. */
export const MOST_LOOKED_AT = 100_000;

/** The letters that are there now, those that failed first in front. Raw bodies have no time and come last. */
export async function browseLetters(letters: DeadLetters): Promise<FoundLetter[]> {
  const found = (await letters.browse(MOST_LOOKED_AT)).map(readLetter);
  const time = ({ letter }: FoundLetter): string => letter?.failedAt ?? '~';
  return found.sort((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
}

/** Deletes the selected letters, and no others; with `isDry`, only counts them. Returns how many were meant. */
export async function purgeLetters(
  letters: DeadLetters,
  { filter, limit, isDry }: { readonly filter: LetterFilter; readonly limit: number; readonly isDry: boolean },
): Promise<number> {
  let purged = 0;
  const enough = new AbortController();
  await letters.sift(async (messages) => {
    const fates = messages.map((message) => {
      if (purged >= limit || !isMeant(readLetter(message), filter)) return 'keep';
      purged++;
      return isDry ? 'keep' : 'delete';
    });
    if (purged >= limit) enough.abort();
    return fates;
  }, enough.signal);
  return purged;
}

/** What `dlq purge` prints. */
export function purgedJson(matching: number, dryRun: boolean): object {
  return { purged: dryRun ? 0 : matching, matching, dryRun };
}
