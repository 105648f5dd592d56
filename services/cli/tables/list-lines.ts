import { createReadStream } from 'node:fs';
import { decodeStream } from '../../../shared/crawler/document/charset.ts';
import { messageOf, StorageError, UsageError } from '../../../shared/runtime/errors.ts';
import { malformedMarkOf, markOf, taskIdOf } from '../../../shared/task/url/fingerprint.ts';
import { keyWithLogin } from '../../../shared/task/url/logins.ts';
import { isProblem, readListedUrl, withoutCredentials } from '../../../shared/task/url/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../../../shared/task/url/url-key.ts';
import { cellsOf, NO_URL_COLUMN } from '../../../shared/task/url/url-table.ts';
import { ListReader, type UrlRow } from '../../../shared/task/url/urls-file.ts';
import { unpacked } from '../../producer/documents/unpacking.ts';
import { STANDARD_STREAM } from '../text/line-output.ts';

/** Maximum number of columns read from a table, as many as a table of records has. */
const MOST_OTHERS = 200;

/** A line of a list of URLs. */
export interface ListLine {
  /** The line as written, without credentials. */
  readonly given: string;
  readonly url: ListedUrl;
  /** The other cells of a table's line: header → text. */
  readonly others?: Readonly<Record<string, string>>;
}

/** A URL's key in a run without rules, and its login; or the mark of a text that is not a URL. */
export type ListedUrl = { readonly canonical: string; readonly login: string | undefined } | { readonly mark: string };

/**
 * Reads a list of URLs as a crawl does, skipping blank lines and those that begin with `#`.
 *
 * @param path a file, or `-` for standard input
 * @throws StorageError if the list can't be read, UsageError if it is a table without a column of URLs
 */
export async function* readList(path: string): AsyncGenerator<ListLine, void, void> {
  const reader = new ListReader(readLine);
  for await (const text of textOf(path)) {
    yield* reader.write(text);
    if (reader.isTable) break;
  }
  if (reader.isTable) throw new UsageError(`${path} ${NO_URL_COLUMN} (--join)`);
  yield* reader.end();
}

/** Returns the task id of a line's URL at a step, in a run with these rules. */
export function taskOf(url: ListedUrl, step: string, run: string, rules: readonly UrlKeyRule[] | undefined): string {
  if ('mark' in url) return taskIdOf(run, url.mark);
  return taskIdOf(run, markOf(keyWithLogin(urlKeyOf(url.canonical, rules), url.login), step));
}

async function* textOf(path: string): AsyncGenerator<string, void, void> {
  try {
    const input = path === STANDARD_STREAM ? process.stdin : createReadStream(path);
    yield* decodeStream(unpacked(input, Number.POSITIVE_INFINITY));
  } catch (error: unknown) {
    throw new StorageError(`${path} can't be read: ${messageOf(error)} (--join)`, { cause: error });
  }
}

function readLine(text: string, row?: UrlRow): ListLine {
  const read = readListedUrl(text);
  const given = withoutCredentials(text);
  const others = row === undefined ? {} : othersIn(row);
  if (isProblem(read)) return { given, url: { mark: malformedMarkOf(given) }, ...others };
  return { given, url: { canonical: read.canonical, login: read.login }, ...others };
}

/** Returns the line's other cells. Columns without a header are left out; if several have the same header, the first is taken. */
function othersIn({ text, column: { separator, index, names } }: UrlRow): Pick<ListLine, 'others'> {
  const cells = cellsOf(text, separator, Math.min(names.length, MOST_OTHERS));
  const isKept = (name: string, at: number): boolean => at !== index && name !== '' && names.indexOf(name) === at;
  const others = cells.flatMap((cell, at) => (isKept(names[at] ?? '', at) ? [[names[at], cell] as const] : []));
  return others.length === 0 ? {} : { others: Object.fromEntries(others) };
}
