import { readLimit } from '../../shared/control/run-limit.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import { UsageError } from '../../shared/runtime/errors.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../shared/settings/table.ts';

/** The settings that a request may give a run. None names a file or a folder, and none opens private addresses. */
export const OPTION_SETTINGS = [
  'rate',
  'maxAttempts',
  'follow',
  'maxDepth',
  'scope',
  'include',
  'exclude',
  'maxPages',
  'maxHostsPerDomain',
  'content',
  'incremental',
  'recrawlAfter',
  'urlKey',
  'lastmodSince',
] as const satisfies readonly SettingKey[];
type OptionSetting = (typeof OPTION_SETTINGS)[number];

/** How deep an API's runs follow links at most. */
export const MOST_DEPTH = 100;

/** A value as JSON has it; a setting's own parser reads its text. */
type OptionValue = string | number | boolean | readonly string[];

/** What a request says of a run, beside its seeds. */
export type RunRequestOptions = Readonly<Partial<Record<OptionSetting, OptionValue | undefined>>> & {
  readonly dedup?: RunOptions['dedup'] | undefined;
  readonly robots?: 'ignore' | undefined;
  readonly limit?: number | undefined;
};

/**
 * The process' settings with those of a request in their place.
 *
 * @throws UsageError with all that is wrong
 */
export function settingsWith(settings: Settings, options: RunRequestOptions): Settings {
  const problems: string[] = [];
  const changed: Partial<Record<OptionSetting, unknown>> = {};
  for (const key of OPTION_SETTINGS) {
    const value = options[key];
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(',') : String(value);
    const read = SETTINGS[key].parse(text.trim());
    if ('value' in read) changed[key] = read.value;
    else problems.push(`expected options.${key} to be ${read.expected}, got ${JSON.stringify(text.slice(0, 200))}`);
  }
  if (problems.length > 0) throw new UsageError(problems.join('; '));
  return { ...settings, ...(changed as Partial<Settings>) };
}

/** The number of URLs that a run takes, if the request says so. */
export function limitOf({ limit }: RunRequestOptions): Pick<RunOptions, 'limit'> {
  return readLimit(limit === undefined ? undefined : String(limit));
}
