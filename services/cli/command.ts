import type { Command } from 'commander';
import { type Logger, type LogLevel, openLog } from '../../shared/runtime/logger.ts';
import type { SettingGroup } from '../../shared/settings/setting.ts';
import { readSettings } from '../../shared/settings/settings.ts';
import { SETTINGS, type Settings } from '../../shared/settings/table.ts';
import { untilInterrupted } from './process/interrupts.ts';
import { logBug, report } from './process/report.ts';
import { isWatched } from './text/progress-line.ts';

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
  /** Aborted by the first Ctrl-C or SIGTERM; left out where the command listens for them itself. */
  readonly signal?: AbortSignal;
}

interface ActionOptions {
  readonly groups: readonly SettingGroup[];
  /** Used if LOG_LEVEL is not set. */
  readonly logLevel: LogLevel;
  /** On a terminal, the command draws a progress line. */
  readonly drawsProgress?: boolean;
  /** The command listens for Ctrl-C and SIGTERM itself, to finish what is under way. Others end at once. */
  readonly stopsInOrder?: boolean;
  /** Fields of every line of the log. */
  readonly logFields?: object;
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
  { logLevel, drawsProgress = false, stopsInOrder = false, logFields = {} }: Omit<ActionOptions, 'groups'>,
  action: (context: Context) => Promise<number>,
): Promise<number> {
  const flags = flagsOf(options);
  const settings = readSettings(flags);
  const format = logFormatOf(settings);
  const overProgress = drawsProgress && isWatched(options.json === true);
  const log = openLog({ level: settings.logLevel ?? logLevel, format, overProgress, fields: logFields });
  const context = { settings, flags, log, json: options.json === true };
  const onUncaught = (error: unknown): void => {
    logBug(error, log);
    log.close();
    process.exit(report(error));
  };
  process.on('uncaughtException', onUncaught);
  try {
    return await (stopsInOrder ? action(context) : untilInterrupted((signal) => action({ ...context, signal })));
  } catch (error: unknown) {
    logBug(error, log);
    throw error;
  } finally {
    process.off('uncaughtException', onUncaught);
    log.close();
  }
}

/** The form of the log: one for people if they are there to read it. */
export function logFormatOf({ logFormat }: Settings): 'pretty' | 'json' {
  return logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json');
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
