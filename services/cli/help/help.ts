import { type Command, Help, type Option } from 'commander';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { exampleLines } from './examples.ts';
import { answerTo, argumentMeantBy, commandMeantBy, HEADINGS, meantBy, nearestFlag } from './flags.ts';

const ORDER = Object.values(HEADINGS);

/** `--help` in groups, in the same order for every command. */
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

/** Gives a command, and those below it, their help in groups, and what comes after their help and their errors. */
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
 * What commander says of a wrong command line; of a command or a flag by another name, or one that resembles a flag which help shows
 * only with `--all`, which one is meant: commander knows those that are shown.
 *
 * @param known the flags of the command that was given; none if nobody knows that
 * @param command what it takes besides flags
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
  // Another command of the same group may have it.
  const others = known.filter((each) => each !== unknown);
  const meant = meantBy(unknown, known) ?? withoutFlag(unknown, command) ?? nearestFlag(unknown, others);
  // Several that are as near are named by commander together.
  const [, told = ''] = error.split('(Did you mean ');
  if (meant === undefined || told.split(/[ ,?]/).includes(meant)) return error;
  return `error: unknown option '${unknown}'\n(Did you mean ${meant}?)\n`;
}

/** Where a command takes flags alone, `trawl dlq list RUN` say: the flag that the word it was given belongs to. */
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

/** A command as it is written behind the program's name. */
function pathOf(command: Command | undefined | null): string {
  if (!command?.parent) return '';
  return `${pathOf(command.parent)} ${command.name()}`.trimStart();
}

/** `trawl help dlq list` as `trawl dlq list --help`: the command's own help, and the same answer to a name that nobody knows. */
export function asHelpFlag(argv: readonly string[]): readonly string[] {
  const [node = '', file = '', first, second, ...others] = argv;
  if (first !== 'help' || second === undefined || second.startsWith('-')) return argv;
  return [node, file, second, ...others, '--help'];
}

/**
 * A command line up to its first word that is no command, if there is one: of what nobody knows, help has nothing to say, and the
 * error tells the nearest name.
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

/** The flags of a command, and of those below it. */
export function flagsOf(command: Command | undefined): string[] {
  if (command === undefined) return [];
  const own = command.options.flatMap(({ long }) => long ?? []);
  return [...own, ...command.commands.flatMap(flagsOf)];
}
