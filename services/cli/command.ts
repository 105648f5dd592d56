import { type Command, Option } from 'commander';
import { COLOUR_CHOICES, type ColourChoice, chooseColours } from '../../shared/runtime/colour.ts';
import { UsageError } from '../../shared/runtime/errors.ts';
import { type Logger, type LogLevel, openLog } from '../../shared/runtime/logger.ts';
import { exitNow } from '../../shared/runtime/process-exit.ts';
import { oneOf } from '../../shared/settings/parsers.ts';
import type { SettingGroup } from '../../shared/settings/setting.ts';
import { readSettings } from '../../shared/settings/settings.ts';
import { SETTINGS, type SettingKey, type Settings } from '../../shared/settings/table.ts';
import { unknownTexts } from '../process/unknown-setting.ts';
import { HEADINGS, SHOWN } from './help/flags.ts';
import { untilInterrupted } from './process/interrupts.ts';
import { logBug, reportUncaught } from './process/report.ts';
import { type Telling, tellingOf } from './text/teller.ts';

/** One sub-command. */
export interface CommandModule {
  /** Adds the command's arguments, options and action. The action ends by calling `exit` with the exit code. */
  define(command: Command, exit: (code: number) => void): void;
}

/** The context that every action runs in. */
export interface Context {
  readonly settings: Settings;
  /** The settings given as flags: name → text. */
  readonly flags: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Standard output is for JSON only. */
  readonly json: boolean;
  /** How the command reports its progress and result. */
  readonly telling: Telling;
  /** Aborted by the first Ctrl-C or SIGTERM. Absent if the command listens for them itself. */
  readonly signal?: AbortSignal;
}

interface ActionOptions {
  readonly groups: readonly SettingGroup[];
  /** The level if LOG_LEVEL is not set. */
  readonly logLevel: LogLevel;
  /** The command reports progress: on a terminal, in a line at the bottom. */
  readonly tellsProgress?: boolean;
  /** The command listens for Ctrl-C and SIGTERM itself, to finish work under way. Other commands end at once. */
  readonly stopsInOrder?: boolean;
  /** Warns in the log about names in `.env` that are not settings. Default: true. */
  readonly warnsOfSettings?: boolean;
  /** Fields added to every line of the log. */
  readonly logFields?: object;
}

export const QUIET_HELP = 'print nothing unless something goes wrong';

/** Collects the values of a flag that can be repeated, one value each time. A variadic flag would swallow the seeds that follow it. */
export function repeated(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/**
 * Adds `--json`, `--color`, and a flag for each setting of the given groups and of the log.
 *
 * @param own defaults of this command alone, by the name of the flag's value
 * @param without settings of these groups that mean nothing to this command
 */
export function addCommonOptions(
  command: Command,
  groups: readonly SettingGroup[],
  own: Readonly<Record<string, string>> = {},
  without: ReadonlySet<string> = new Set(),
): Command {
  const said = (flags: string, help: string): Option => new Option(flags, help).helpGroup(HEADINGS.log);
  command
    .addOption(said('--json', 'print JSON, and nothing else, on standard output'))
    .addOption(said('--color <when>', `colours: ${COLOUR_CHOICES.join(', ')} [auto]`))
    .addHelpOption(said('-h, --help', 'show this; with --all, every flag'));
  for (const [key, { flag, group, help, default: fallback, parse }] of Object.entries(SETTINGS)) {
    if ((!groups.includes(group) && group !== 'log') || without.has(key)) continue;
    const isSwitch = 'value' in parse('true') && 'value' in parse('false') && !('value' in parse('x'));
    const usual = own[camelCase(flag)] ?? fallback;
    const shown = usual === '' || isSwitch ? help : `${help} [${usual}]`;
    const option = new Option(isSwitch ? `--${flag}` : `--${flag} <value>`, shown).helpGroup(HEADINGS[group]);
    command.addOption(option.hideHelp(!SHOWN.has(key as SettingKey)));
  }
  return command;
}

/** Reads the settings, opens the log, runs the action, and closes the log. */
export async function withContext(
  given: object,
  {
    logLevel,
    tellsProgress = false,
    stopsInOrder = false,
    logFields = {},
    warnsOfSettings = true,
  }: Omit<ActionOptions, 'groups'>,
  action: (context: Context) => Promise<number>,
): Promise<number> {
  const options: Readonly<Record<string, unknown>> = { ...given };
  chooseColours(readColourChoice(options.color));
  const flags = flagsOf(options);
  const settings = readSettings(flags);
  const telling = tellingOf(options);
  const overProgress = tellsProgress && telling === 'line';
  const log = openLog({
    level: settings.logLevel ?? logLevel,
    format: settings.logFormat,
    overProgress,
    fields: logFields,
  });
  for (const unknown of warnsOfSettings ? unknownTexts(settings) : []) log.warn({}, unknown);
  const context = { settings, flags, log, json: options.json === true, telling };
  const onUncaught = (error: unknown): void => {
    logBug(error, log);
    log.close();
    exitNow(reportUncaught(error));
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

/** @throws UsageError */
function readColourChoice(given: unknown): ColourChoice {
  const read = oneOf(...COLOUR_CHOICES)(String(given ?? 'auto'));
  if ('value' in read) return read.value;
  throw new UsageError(`expected --color to be ${read.expected}, got "${given}"`);
}

/** The settings given as flags: name → text. */
function flagsOf(options: Readonly<Record<string, unknown>>): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const { name, flag } of Object.values(SETTINGS)) {
    const value = options[camelCase(flag)];
    if (value !== undefined) flags[name] = String(value);
  }
  return flags;
}

/** The name under which commander stores a flag's value. */
function camelCase(flag: string): string {
  return flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
