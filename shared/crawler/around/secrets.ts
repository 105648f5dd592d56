import { ConfigurationError } from '../../runtime/errors.ts';
import type { Crawler } from '../crawler.ts';

/** The values of a crawler's secrets, by name. */
export type Secrets = Readonly<Record<string, string>>;

/** Shorter values are not masked: they would be found in most texts. */
const SHORTEST = 3;

/** The secrets of some crawlers, as far as the environment has them. */
export interface KnownSecrets {
  /** Returns a crawler's secrets. @throws ConfigurationError with the names of all that are missing */
  readonly of: (crawler: Crawler) => Secrets;
  /** By crawler, the names of secrets that the environment lacks. */
  readonly lacking: Readonly<Record<string, readonly string[]>>;
}

/** Reads the secrets of crawlers. */
export function secretsFrom(
  environment: Readonly<Record<string, string | undefined>>,
  crawlers: readonly Crawler[],
): KnownSecrets {
  const lackingOf = ({ secrets }: Crawler): string[] => secrets.filter((each) => (environment[each] ?? '') === '');
  const lacking = crawlers.map((crawler) => [crawler.name, lackingOf(crawler)] as const);
  return {
    of: (crawler) => {
      const missing = lackingOf(crawler);
      if (missing.length > 0)
        throw new ConfigurationError([
          `expected ${missing.join(', ')} in the environment: secrets of crawler ${crawler.name}`,
        ]);
      return Object.fromEntries(crawler.secrets.map((each) => [each, environment[each] ?? '']));
    },
    lacking: Object.fromEntries(lacking.filter(([, names]) => names.length > 0)),
  };
}

/** Masks the values of secrets in a text, both as they are and URL-encoded. */
export function masked(text: string, secrets: Secrets = {}): string {
  let shown = text;
  for (const value of Object.values(secrets)) {
    if (value.length < SHORTEST) continue;
    const coded = [encodeURIComponent(value), new URLSearchParams([['', value]]).toString().slice(1)];
    for (const each of [value, ...coded]) shown = shown.replaceAll(each, '…');
  }
  return shown;
}
