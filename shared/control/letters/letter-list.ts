import { setImmediate } from 'node:timers/promises';
import type { DeadLetters } from '../../ports/transport.ts';
import { partsOf } from '../../task/parts.ts';
import { type FoundLetter, isMeant, type LetterFilter, readLetter } from './letter-filter.ts';

/** Maximum number of letters searched, which takes at most a few seconds and some hundred megabytes. */
export const MOST_LOOKED_AT = 100_000;

/** Letters read before others on the event loop get their turn: some ten milliseconds. */
const READ_AT_ONCE = 1_000;

/** Returns the current letters, earliest failure first. Raw bodies have no time and come last. */
export async function browseLetters(letters: Pick<DeadLetters, 'browse'>): Promise<FoundLetter[]> {
  const found: FoundLetter[] = [];
  // Reading all at once would hold up other requests for a second.
  for (const some of partsOf(await letters.browse(MOST_LOOKED_AT), READ_AT_ONCE)) {
    for (const message of some) found.push(readLetter(message));
    await setImmediate();
  }
  return inOrder(found);
}

/**
 * Returns the first selected letters, in the order of {@link browseLetters}, with the number of selected letters and of all letters. Holds
 * only about twice `limit` letters in memory, however many there are.
 */
export async function listLetters(
  letters: Pick<DeadLetters, 'sift'>,
  { isMeant: isListed, limit }: { readonly isMeant: (found: FoundLetter) => boolean; readonly limit: number },
): Promise<{ readonly found: readonly FoundLetter[]; readonly meant: number; readonly all: number }> {
  let found: FoundLetter[] = [];
  let [meant, all] = [0, 0];
  await letters.sift(async (messages) => {
    all += messages.length;
    const listed = messages.map(readLetter).filter(isListed);
    meant += listed.length;
    found.push(...listed);
    if (found.length > 2 * limit) found = inOrder(found).slice(0, limit);
    return [];
  });
  return { found: inOrder(found).slice(0, limit), meant, all };
}

/** The sort key of letters. The id decides between letters with the same time, whose order a queue doesn't keep. */
export interface LetterKey {
  readonly time: string;
  readonly id: string;
}

/** Maximum lengths of a key's time and id, since foreign letters can have longer ones. */
const [MOST_TIME, MOST_ID] = [40, 255];

export function letterKey({ letter, message }: FoundLetter): LetterKey {
  return { time: (letter?.failedAt ?? '~').slice(0, MOST_TIME), id: (message.id ?? '').slice(0, MOST_ID) };
}

export function compareKeys(a: LetterKey, b: LetterKey): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

function inOrder(found: FoundLetter[]): FoundLetter[] {
  // Each key is made once, not once for each comparison.
  const keyed = found.map((each) => ({ each, key: letterKey(each) }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ each }) => each);
}

/** Deletes the selected letters and no others; with `isDry`, only counts them. Returns the number of selected letters. */
export async function purgeLetters(
  letters: Pick<DeadLetters, 'sift'>,
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

/** The JSON of `dlq purge`. */
export function purgedJson(matching: number, dryRun: boolean): object {
  return { purged: dryRun ? 0 : matching, matching, dryRun };
}
