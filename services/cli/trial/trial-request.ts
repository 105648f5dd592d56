import { readFile } from 'node:fs/promises';
import { CrawlerFault } from '../../../shared/crawler/failures/crawler-fault.ts';
import { requestOf } from '../../../shared/crawler/followed-request.ts';
import { messageOf, UsageError } from '../../../shared/runtime/errors.ts';
import type { Method, TaskRequest } from '../../../shared/task/task/request.ts';

/** The flags for a request that is not a plain GET, named after those of curl. */
export interface RequestFlags {
  /** Request method. Default: GET, or POST if there is a body. */
  readonly method?: string;
  /** The body, or `@` followed by the name of a file with the body. */
  readonly data?: string;
  /** Headers, each `name: value`. */
  readonly header?: readonly string[];
}

/**
 * Returns the request of a trial, checked like one that a step follows; undefined for a plain GET. A body that is a JSON object or list is
 * sent as JSON, any other as a form, unless a header gives its type.
 *
 * @throws UsageError
 */
export async function trialRequest(
  url: string,
  { method, data, header = [] }: RequestFlags,
): Promise<TaskRequest | undefined> {
  const text = data?.startsWith('@') ? await textIn(data.slice(1)) : data;
  const headers = header.map(headerIn);
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const type = text === undefined || isTyped ? [] : [['content-type', isJson(text) ? JSON_TYPE : FORM_TYPE] as const];
  const names = headers.map(([name]) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`expected each --header once, got ${twice} twice`);
  try {
    return requestOf({
      url,
      method: (method?.toUpperCase() ?? (text === undefined ? 'GET' : 'POST')) as Method,
      headers: Object.fromEntries([...type, ...headers]),
      ...(text === undefined ? {} : { body: text }),
    });
  } catch (error: unknown) {
    if (error instanceof CrawlerFault) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** The content types that a step's body would have as an object, or as parameters. */
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded;charset=UTF-8';

/** Reads a header. Its value may be a secret, so no error shows it. */
function headerIn(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0)).trim();
  if (name === '')
    throw new UsageError("expected --header to be like 'accept: application/json', got one without a name and a colon");
  return [name, text.slice(colon + 1).trim()];
}

async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error: unknown) {
    throw new UsageError(`--data @${file} can't be read: ${messageOf(error)}`);
  }
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
