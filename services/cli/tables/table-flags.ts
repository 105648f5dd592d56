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

/** All flags of a table except the file. */
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

/** Other names of standard output. Opening one of these would replace a file to which the shell appends (`>>`). */
const STANDARD_OUTPUT_NAMES: ReadonlySet<string> = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** Adds the flags of a table to a command. @param isBrief whether most of them are shown only by `--help --all` */
export function addTableOptions(command: Command, { isBrief = false }: { readonly isBrief?: boolean } = {}): Command {
  const add = (flags: string, help: string, isHidden = isBrief): Option => {
    const option = new Option(flags, help).helpGroup(HEADINGS.output).hideHelp(isHidden);
    command.addOption(option);
    return option;
  };
  add('-o, --output <file>', 'write the records to a file; - is standard output', false).argParser((path) =>
    STANDARD_OUTPUT_NAMES.has(path) ? STANDARD_STREAM : path,
  );
  add('--format <format>', "jsonl, json or csv [by the file's extension, else jsonl]", false);
  add('--fields <columns>', 'only these columns: title,Price=offers[0].price', false);
  add('--step <name>', 'only the records of this step of the crawler');
  add('--each <path>', 'a row for each element of this list in the data; . is the data itself');
  add('--where <condition>', 'only rows with status=200,301 or price!= (can be repeated: all must hold)').argParser(
    repeated,
  );
  add('--failed', 'failures instead of pages');
  add('--skipped', 'skipped URLs instead of pages');
  add('--all', 'pages, failures and skipped URLs');
  add('--empty', 'also pages on which a step found nothing');
  add('--join <list>', 'a row for each line of this list of URLs, in its order; - is standard input');
  add('--bom', 'begin CSV with a byte order mark, for Excel');
  return command;
}
