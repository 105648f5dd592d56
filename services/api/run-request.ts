import { readLimit } from '../../shared/control/run-limit.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import { UsageError } from '../../shared/runtime/errors.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../shared/settings/table.ts';

/** The settings that a request can set for a run. None names a file or a folder, and none opens private addresses. */
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

/** Greatest `maxDepth` that a request can set. */
export const MOST_DEPTH = 100;

/** An option's value in JSON. The setting's own parser reads it as text. */
type OptionValue = string | number | boolean | readonly string[];

/** The options of a run request. */
export type RunRequestOptions = Readonly<Partial<Record<OptionSetting, OptionValue | undefined>>> & {
  readonly dedup?: RunOptions['dedup'] | undefined;
  readonly robots?: 'ignore' | undefined;
  readonly limit?: number | undefined;
};

/**
 * Returns the process' settings, overridden by the options of a request.
 *
 * @throws UsageError with every problem
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

/** Returns the request's limit on the URLs that the run takes, if it has one. */
export function limitOf({ limit }: RunRequestOptions): Pick<RunOptions, 'limit'> {
  return readLimit(limit === undefined ? undefined : String(limit));
}
