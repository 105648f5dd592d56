import { type Command, Option } from 'commander';
import { repeated } from '../command.ts';
import { HEADINGS } from '../help/flags.ts';
import { STANDARD_STREAM } from '../text/line-output.ts';

/** The flags of a table, as given. */
export interface TableOptions {
  readonly failed?: boolean;
  readonly skipped?: boolean;
  readonly all?: boolean;
  readonly step?: string;
  readonly empty?: boolean;
  readonly each?: string;
  readonly where?: readonly string[];
  readonly fields?: string;
  readonly format?: string;
  readonly bom?: boolean;
  readonly join?: string;
  readonly output?: string;
}

/** All but the file. */
export const TABLE_FLAGS = [
  'format',
  'fields',
  'step',
  'each',
  'empty',
  'where',
  'failed',
  'skipped',
  'all',
  'join',
  'bom',
] as const satisfies readonly (keyof TableOptions)[];

/** Opened by such a name, a file that standard output is appended to would be replaced. */
const STANDARD_OUTPUT_NAMES: ReadonlySet<string> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** Adds the flags of a table to a command. @param isBrief most of them are for `--help --all` */
export function addTableOptions(command: Command, { isBrief = false }: { readonly isBrief?: boolean } = {}): Command {
  const add = (flags: string, help: string, isHidden = isBrief): Option => {
    const option = new Option(flags, help).helpGroup(HEADINGS.output).hideHelp(isHidden);
    command.addOption(option);
    return option;
  };
  add('-o, --output <file>', 'write the records to a file; - is standard output', false).argParser((path) =>
    STANDARD_OUTPUT_NAMES.has(path) ? STANDARD_STREAM : path,
  );
  add('--format <format>', "jsonl, json or csv [by the file's ending, else jsonl]", false);
  add('--fields <columns>', 'only these columns: title,Price=offers[0].price', false);
  add('--step <name>', 'only the records of this step of the crawler');
  add('--each <path>', 'a row for each element of this list in the data; . is the data themselves');
  add('--where <condition>', 'only rows with status=200,301 or price!= (repeated: all must hold)').argParser(repeated);
  add('--failed', 'the failures instead of the pages');
  add('--skipped', 'what was skipped instead of the pages');
  add('--all', 'pages, failures and what was skipped');
  add('--empty', 'also pages on which a step found nothing');
  add('--join <list>', 'a row for each line of this list of URLs, in its order; - is standard input');
  add('--bom', 'begin CSV with a byte order mark, for Excel');
  return command;
}
