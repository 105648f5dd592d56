import { ConfigurationError } from '../../runtime/errors.ts';
import type { Crawler } from '../crawler.ts';

/** The values of a crawler's secrets, by name. */
export type Secrets = Readonly<Record<string, string>>;

/** A shorter value is not looked for in texts: it would be found in most of them. */
const SHORTEST = 3;

/** The secrets of some crawlers, as far as an environment has them. */
export interface KnownSecrets {
  /** @throws ConfigurationError with the names of all that the crawler lacks */
  readonly of: (crawler: Crawler) => Secrets;
  /** The names of those that the environment lacks, by crawler. */
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

/** A text without the values of secrets, as they are or as a form has them. */
export function masked(text: string, secrets: Secrets = {}): string {
  let shown = text;
  for (const value of Object.values(secrets)) {
    if (value.length < SHORTEST) continue;
    const coded = [encodeURIComponent(value), new URLSearchParams([['', value]]).toString().slice(1)];
    for (const each of [value, ...coded]) shown = shown.replaceAll(each, '…');
  }
  return shown;
}
