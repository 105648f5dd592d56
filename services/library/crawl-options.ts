import type { Crawler } from '../../shared/crawler/crawler.ts';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import { nearestOf } from '../../shared/settings/nearest-name.ts';
import type { SettingGroup } from '../../shared/settings/setting.ts';
import { SETTINGS, type SettingKey } from '../../shared/settings/table.ts';

/** The groups of settings for a crawl in one process; also allowed is `outputDir`, the folder for downloads. */
const GROUPS: ReadonlySet<SettingGroup> = new Set(['run', 'fetch', 'worker', 'log']);
const NOT_OURS = ['crawler', 'sink', 'incremental', 'recrawlAfter'] as const satisfies readonly SettingKey[];
const OWN = ['crawler', 'args', 'limit', 'signal'] as const;

/** A value as it would be typed as a flag; a list can also be given as an array. */
type SettingValue = string | number | boolean | readonly string[];

/**
 * Settings by the names of their flags, such as `rate` or `maxDepth`. A setting left out comes from the environment or `.env`, otherwise it
 * has its default.
 */
type CrawlSettings = { readonly [Key in Exclude<SettingKey, (typeof NOT_OURS)[number]>]?: SettingValue | undefined };

/** The options of {@link crawl}. */
export interface CrawlOptions extends CrawlSettings {
  /** What to make of each page: a crawler, or the name or file of one. Default: Trawl's own, `page`. */
  readonly crawler?: Crawler | string | undefined;
  /** Arguments of the crawler, by name. */
  readonly args?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Maximum number of URLs taken, including links. */
  readonly limit?: number | undefined;
  /** Aborting it stops the crawl: pages in hand are given up, and iterating rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the settings among the options as texts, by the names of their variables.
 *
 * @throws ConfigurationError with all problems
 */
export function settingsIn(options: CrawlOptions): Record<string, string> {
  const texts: Record<string, string> = {};
  const problems: string[] = [];
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || isOwn(key)) continue;
    const problem = problemOf(key, value);
    if (problem === undefined) texts[SETTINGS[key as SettingKey].name] = textOf(value);
    else problems.push(problem);
  }
  const { limit } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    problems.push(`expected option limit to be a whole number, from 1, got ${JSON.stringify(limit)}`);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return texts;
}

function problemOf(key: string, value: SettingValue): string | undefined {
  if (!isOurs(key)) {
    const nearest = nearestOf(key, [...Object.keys(SETTINGS).filter(isOurs), ...OWN]);
    return `crawl has no option ${key}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
  }
  const { parse, secret } = SETTINGS[key];
  const read = parse(textOf(value));
  if ('value' in read) return undefined;
  return `expected option ${key} to be ${read.expected}, got ${secret ? 'something else' : JSON.stringify(value)}`;
}

function isOwn(key: string): boolean {
  return OWN.includes(key as (typeof OWN)[number]);
}

function isOurs(key: string): key is SettingKey {
  if (!Object.hasOwn(SETTINGS, key) || NOT_OURS.includes(key as (typeof NOT_OURS)[number])) return false;
  return key === 'outputDir' || GROUPS.has(SETTINGS[key as SettingKey].group);
}

function textOf(value: SettingValue): string {
  return (Array.isArray(value) ? value.join(',') : String(value)).trim();
}
