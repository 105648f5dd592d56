import type { Command, Option } from 'commander';

/**
 * Ends a command line in which a flag that needs a value is followed by another flag of its command. Commander takes that for the value,
 * and the next word for an argument, so what it says is about something else. A value that reads like a flag is written as
 * `--run=--rate`.
 *
 * @throws CommanderError, after it was told
 */
export function refuseFlagsAsValues(argv: readonly string[], program: Command): void {
  let command = program;
  for (let at = 2; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') return;
    const flag = flagIn(command, word);
    if (flag?.required) {
      at++;
      const next = flagIn(command, argv[at] ?? '');
      if (next === undefined) continue;
      command.error(`error: option '${flag.flags}' argument missing: ${argv[at]}, which follows it, is a flag itself`, {
        code: 'commander.optionMissingArgument',
      });
    }
    command = command.commands.find((each) => each.name() === word) ?? command;
  }
}

function flagIn(command: Command, word: string): Option | undefined {
  return command.options.find(({ long, short }) => word === long || word === short);
}
