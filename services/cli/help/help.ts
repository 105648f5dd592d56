import { type Command, Help, type Option } from 'commander';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { exampleLines } from './examples.ts';
import { answerTo, argumentMeantBy, commandMeantBy, HEADINGS, meantBy, nearestFlag } from './flags.ts';

const ORDER = Object.values(HEADINGS);

/** Shows the groups of `--help` in the same order for every command. */
class GroupedHelp extends Help {
  override groupItems<T extends Command | Option>(
    all: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    const groups = [...super.groupItems(all, visible, groupOf)];
    return new Map(groups.sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b)));
  }
}

/** Sets up the help of a command and its sub-commands: groups, examples, and the lines after help and errors. */
export function addHelpTexts(command: Command, showsAll: boolean, path = command.name()): void {
  command.createHelp = () => new GroupedHelp();
  const hidden = command.options.filter((option) => option.hidden && option.helpGroupHeading !== undefined);
  for (const option of hidden) option.hideHelp(!showsAll);
  const more = hidden.length === 0 || showsAll ? [] : ['', `More flags: ${TRAWL} ${path} --help --all`];
  command
    .configureOutput({ outputError: (text, write) => write(improved(text, flagsOf(command), command)) })
    .addHelpText('after', [...exampleLines(path), ...more].join('\n'))
    .showHelpAfterError(`(${TRAWL} ${path} --help lists its flags)`);
  for (const each of command.commands) addHelpTexts(each, showsAll, `${path} ${each.name()}`);
}

/**
 * Improves commander's message about a wrong command line. Suggests a command or flag for words from other tools, and flags that help
 * shows only with `--all`: commander suggests only flags that are shown.
 *
 * @param known the flags of the given command; empty if the command is unknown
 * @param command the given command, whose arguments are suggested too
 */
export function improved(error: string, known: readonly string[], command?: Command): string {
  const [, given] = /^error: unknown command '(.+?)'/.exec(error) ?? [];
  const wanted = given === undefined || known.length > 0 ? undefined : commandMeantBy(given);
  if (wanted !== undefined) return `error: unknown command '${given}'\n(Did you mean ${wanted}?)\n`;
  const filter = filterMeantBy(error, known);
  if (filter !== undefined) return `${error.trimEnd()}\n(Did you mean ${filter}?)\n`;
  const [, unknown] = /^error: unknown option '(.+?)'/.exec(error) ?? [];
  if (unknown === undefined) return error;
  const answer = known.includes(unknown) ? undefined : answerTo(unknown, command?.name() ?? '');
  if (answer !== undefined) return `error: unknown option '${unknown}'\n(${answer})\n`;
  // A sibling sub-command may have this very flag: don't suggest what was typed.
  const others = known.filter((each) => each !== unknown);
  const meant = meantBy(unknown, known) ?? withoutFlag(unknown, command) ?? nearestFlag(unknown, others);
  // Commander's own suggestion counts dashes as letters in common: it may resemble nothing that was typed.
  if (meant === undefined) return `error: unknown option '${unknown}'\n`;
  // Keep commander's suggestion if it already names this flag among several.
  const [, told = ''] = error.split('(Did you mean ');
  if (told.split(/[ ,?]/).includes(meant)) return error;
  return `error: unknown option '${unknown}'\n(Did you mean ${meant}?)\n`;
}

/** Returns the flag that a stray argument belongs to, for a command that takes only flags: `trawl dlq list RUN` means `--run RUN`. */
function filterMeantBy(error: string, known: readonly string[]): string | undefined {
  const [, given] =
    /^error: too many arguments for '[a-z]+'\. Expected 0 arguments but got 1: (\S+)\.\n?$/.exec(error) ?? [];
  if (given === undefined) return undefined;
  const flag = given.includes('.') ? '--host' : '--run';
  return known.includes(flag) ? `${flag} ${given}` : undefined;
}

function withoutFlag(unknown: string, command: Command | undefined): string | undefined {
  const taken = command?.registeredArguments.map((each) => each.name()) ?? [];
  const name = argumentMeantBy(unknown, taken);
  return name && `${pathOf(command)} ${name.toUpperCase().replace(/S$/, '')}, without a flag`;
}

/** The words of a command after the program's name. */
function pathOf(command: Command | undefined | null): string {
  if (!command?.parent) return '';
  return `${pathOf(command.parent)} ${command.name()}`.trimStart();
}

/** Rewrites `trawl help dlq list` as `trawl dlq list --help`, so that both show the same help and report an unknown name alike. */
export function asHelpFlag(argv: readonly string[]): readonly string[] {
  const [node = '', file = '', first, second, ...others] = argv;
  if (first !== 'help' || second === undefined || second.startsWith('-')) return argv;
  return [node, file, second, ...others, '--help'];
}

/**
 * Cuts a command line after its first unknown command, if it has one. A `--help` behind it is dropped, so that the error about the name,
 * with the nearest known one, is shown instead of help.
 */
export function upToUnknown(argv: readonly string[], program: Command): readonly string[] {
  let command = program;
  for (const [index, word] of argv.entries()) {
    if (index < 2) continue;
    if (word.startsWith('-') || word === 'help' || command.commands.length === 0) return argv;
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) return argv.slice(0, index + 1);
    command = next;
  }
  return argv;
}

/** The flags of a command and of its sub-commands. */
export function flagsOf(command: Command | undefined): string[] {
  if (command === undefined) return [];
  const own = command.options.flatMap(({ long }) => long ?? []);
  return [...own, ...command.commands.flatMap(flagsOf)];
}
