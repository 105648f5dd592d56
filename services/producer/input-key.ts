import { fstatSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fingerprintOf } from '../../shared/task/url/fingerprint.ts';
import { keyWithLogin, loginFor } from '../../shared/task/url/logins.ts';
import { type Seed, STANDARD_INPUT } from './seeds.ts';

/**
 * Returns a key that is equal for two producers with the same input: made of the seeds in any order, the size and time of files, and the
 * rule for entries to leave out. Returns nothing if the input can't be identified before it is read, such as a pipe.
 *
 * @param leftOut the rule for the entries that are left out, as given by the user
 */
export function inputKeyOf(seeds: readonly Seed[], leftOut: string): string | undefined {
  const keys = seeds.map(keyOf);
  if (keys.includes(undefined)) return undefined;
  return fingerprintOf(JSON.stringify([leftOut, ...new Set(keys.toSorted())]));
}

function keyOf(seed: Seed): string | undefined {
  switch (seed.kind) {
    case 'input':
      return keyOfFile('-', () => fstatSync(STANDARD_INPUT));
    case 'list':
    case 'file':
      return keyOfFile(resolve(seed.path), () => statSync(seed.path));
    case 'site':
    case 'robots':
    case 'maybe_sitemap':
    case 'page':
      return keyWithLogin(seed.url, loginFor(seed.url, seed.logins));
  }
}

/** Returns the key of a file. If it has no stat, its problem is reported when it is read. */
function keyOfFile(name: string, look: () => Stats): string | undefined {
  try {
    const stats = look();
    return stats.isFile() ? `${name} ${stats.size} ${stats.mtimeMs}` : undefined;
  } catch {
    return undefined;
  }
}
