import type { Command } from 'commander';
import { type Logger, type LogLevel, openLog } from '../../shared/logger.ts';
import { readSettings } from '../../shared/settings.ts';
import { SETTINGS, type SettingGroup, type Settings } from '../../shared/settings-table.ts';
import { isWatched } from './progress-line.ts';

/** One sub-command. */
export interface CommandModule {
  /** Adds its arguments, options and action. The action ends by telling its exit code. */
  define(command: Command, exit: (code: number) => void): void;
}

/** What every action gets. */
export interface Context {
  readonly settings: Settings;
  /** The settings that were given as flags, as text, by their names. */
  readonly flags: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Standard output holds only JSON. */
  readonly json: boolean;
}

interface ActionOptions {
  readonly groups: readonly SettingGroup[];
  /** Where LOG_LEVEL says nothing. */
  readonly logLevel: LogLevel;
  /** On a terminal, the command draws a progress line. */
  readonly drawsProgress?: boolean;
}

/** Gives a command `--json` and a flag for each setting of its groups. */
export function addCommonOptions(command: Command, groups: readonly SettingGroup[]): Command {
  command.option('--json', 'print JSON, and nothing else, on standard output');
  for (const { flag, group, help, default: fallback, parse } of Object.values(SETTINGS)) {
    if (!groups.includes(group) && group !== 'log') continue;
    const isSwitch = 'value' in parse('true') && 'value' in parse('false') && !('value' in parse('x'));
    const shown = fallback === '' ? help : `${help} [${fallback}]`;
    command.option(isSwitch ? `--${flag}` : `--${flag} <value>`, shown);
  }
  return command;
}

/** Runs an action with its settings read and its log open, and closes the log after it. */
export async function withContext(
  options: Readonly<Record<string, unknown>>,
  { logLevel, drawsProgress = false }: Omit<ActionOptions, 'groups'>,
  action: (context: Context) => Promise<number>,
): Promise<number> {
  const flags = flagsOf(options);
  const settings = readSettings(flags);
  const format = settings.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const overProgress = drawsProgress && isWatched(options.json === true);
  const log = openLog({ level: settings.logLevel ?? logLevel, format, overProgress });
  try {
    return await action({ settings, flags, log, json: options.json === true });
  } finally {
    log.close();
  }
}

/** The flags that were given, by the name of the setting. */
function flagsOf(options: Readonly<Record<string, unknown>>): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const { name, flag } of Object.values(SETTINGS)) {
    const value = options[camelCase(flag)];
    if (value !== undefined) flags[name] = String(value);
  }
  return flags;
}

/** As commander names the option of a flag. */
function camelCase(flag: string): string {
  return flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
