import { readFile } from 'node:fs/promises';
import { CrawlerFault } from '../../../shared/crawler/failures/crawler-fault.ts';
import { requestOf } from '../../../shared/crawler/followed-request.ts';
import { messageOf, UsageError } from '../../../shared/runtime/errors.ts';
import type { Method, TaskRequest } from '../../../shared/task/task/request.ts';

/** The flags that make a trial's request another than a plain GET, named after those of curl. */
export interface RequestFlags {
  /** Default: GET, or POST if there is a body. */
  readonly method?: string;
  /** The body, or `@` and the name of its file. */
  readonly data?: string;
  /** `name: value` each. */
  readonly header?: readonly string[];
}

/**
 * What a trial sends, checked as what a step follows; nothing for a plain GET. An object or a list in JSON is sent as JSON, any other
 * body as a form, unless a header has its type.
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

/** As a step's body would have it: an object, or parameters. */
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded;charset=UTF-8';

/** Its value may be a secret, so it is in no error. */
function headerIn(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0)).trim();
  if (name === '')
    throw new UsageError("expected --header as 'accept: application/json', got one without a name and a colon");
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
