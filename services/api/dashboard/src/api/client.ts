import { MINUTE_MS, SECOND_MS } from '../../../../../shared/task/durations.ts';

/** Time limit of reads, longer than the API's own. */
const LOOK_TIMEOUT_MS = 30_000;
/** Time limit of changes and the counts before them, which can go through millions of letters or URLs. */
const CHANGE_TIMEOUT_MS = 15 * MINUTE_MS;

/** The API refused a request or could not be reached. The message is a sentence for people. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** The HTTP status; 0 if nothing answered. */
  readonly status: number;
  /** The API's code, such as `unknown_run` or `unavailable`; empty if nothing answered. */
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status = 0, code = '', retryAfterMs }: Partial<Omit<ApiProblem, 'message'>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Event sent to the window when the API answers 401. */
export const UNAUTHORIZED = 'trawl-unauthorized';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Sends a request to the API. `path` is relative to the page, as in `api/fleet`. Resolves with the JSON of the answer, or nothing if
 * it has none; rejects with an {@link ApiProblem}. A 401 also sends {@link UNAUTHORIZED} to the window.
 */
export async function ask<T>(method: Method, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const timeout = AbortSignal.timeout(method === 'GET' ? LOOK_TIMEOUT_MS : CHANGE_TIMEOUT_MS);
  const within = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const answer = await send(method, path, { body, signal: within }).catch((error: unknown) => {
    throw signal?.aborted === true ? signal.reason : error;
  });
  return readJson(await answer.text()) as T;
}

/** Rejects like {@link ask} if a path has nothing to download. Has no time limit, and leaves the download itself to the browser. */
export async function expectDownload(path: string): Promise<void> {
  const answer = await send('GET', path, {});
  await answer.body?.cancel();
}

interface Sending {
  readonly body?: object | undefined;
  readonly signal?: AbortSignal;
}

async function send(method: Method, path: string, { body, signal }: Sending): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      ...(signal === undefined ? {} : { signal }),
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiProblem('the API does not answer');
  }
  if (answer.ok) return answer;
  if (answer.status === 401) dispatchEvent(new Event(UNAUTHORIZED));
  throw problemOf(answer, readJson(await answer.text()));
}

/** Returns a path with its parts encoded: `pathOf('api/hosts', host, 'pause')`. */
export function pathOf(base: string, ...parts: readonly string[]): string {
  return [base, ...parts.map(encodeURIComponent)].join('/');
}

/** Returns a query without its empty values, with the question mark. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Returns the message of an error. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function problemOf(answer: Response, document: unknown): ApiProblem {
  const { title, detail, code } = (document ?? {}) as Partial<Record<'title' | 'detail' | 'code', string>>;
  const after = Number(answer.headers.get('retry-after'));
  return new ApiProblem(detail ?? title ?? `the API answered ${answer.status}`, {
    status: answer.status,
    code: code ?? '',
    retryAfterMs: after > 0 ? after * SECOND_MS : undefined,
  });
}

function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
