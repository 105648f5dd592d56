import type { Command, Option } from 'commander';

/**
 * Rejects a command line in which a flag that needs a value is followed by another flag of its command. Commander would take that as the
 * value and the next word as an argument, and so complain about something else. A value that looks like a flag can be written as
 * `--run=--rate`.
 *
 * @throws CommanderError, after its message was printed
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
