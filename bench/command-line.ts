import { parseArgs } from 'node:util';
import { EXIT_USAGE, messageOf } from '../shared/runtime/errors.ts';

/** The flags of a script with their defaults: `false` for a flag without a value, `''` for one that takes a text. */
type Flags = Readonly<Record<string, number | false | ''>>;

/** The parsed command line: flags and operands. */
type Said<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends false ? boolean : F[K] extends '' ? string : number;
} & { readonly operands: readonly string[] };

/**
 * Reads the command line of a script. `--help` prints `help`, whose first line is the usage, and ends the process. An unknown flag, a value that
 * isn't a number, and a wrong number of operands end it with exit code 2.
 */
export function readCommandLine<const F extends Flags>(
  help: string,
  flags: F,
  [least, most]: readonly [least: number, most: number] = [0, 0],
): Said<F> {
  try {
    const options = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, { type: typeOf(value) }]));
    const { values, positionals: operands } = parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help === true) {
      process.stdout.write(`Usage: ${help}\n`);
      process.exit(0);
    }
    if (operands.length < least || operands.length > most)
      throw new Error(`expected ${least === most ? least : `${least} to ${most}`} operands, got ${operands.length}`);
    const given: Readonly<Record<string, unknown>> = values;
    const said = Object.entries(flags).map(([name, value]) => [name, readValue(name, given[name], value)]);
    return { ...Object.fromEntries(said), operands } as Said<F>;
  } catch (error: unknown) {
    const [usage] = help.split('\n');
    process.stderr.write(`${messageOf(error)}\nUsage: ${usage}\n`);
    process.exit(EXIT_USAGE);
  }
}

function typeOf(value: number | false | ''): 'boolean' | 'string' {
  return value === false ? 'boolean' : 'string';
}

function readValue(name: string, text: unknown, otherwise: number | false | ''): unknown {
  if (text === undefined || typeof otherwise !== 'number') return text ?? otherwise;
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value < 0)
    throw new Error(`expected --${name} to be a number, got "${text}"`);
  return value;
}
