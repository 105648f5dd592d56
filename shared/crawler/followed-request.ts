import { METHODS, type Method, requestProblem, type TaskRequest } from '../task/task/request.ts';
import { CrawlerFault } from './failures/crawler-fault.ts';

/** A link to be fetched with a request other than a plain GET. */
export interface FollowedRequest {
  /** A relative URL is resolved like the page's links. */
  readonly url: string;
  /** Default: `GET`. */
  readonly method?: Method;
  /**
   * At most 64 KiB. A text is sent as it is, `URLSearchParams` as a form, anything else as JSON. The matching content type is added
   * unless `headers` has one.
   */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it may be sent again when its fate is unknown. GET, HEAD, PUT, DELETE and OPTIONS always may. */
  readonly idempotent?: boolean;
}

const FIELDS = ['url', 'method', 'body', 'headers', 'idempotent'];

/**
 * Returns the request that a link sends; undefined if it is a plain GET after all.
 *
 * @throws CrawlerFault if it can't be sent
 */
export function requestOf(followed: FollowedRequest): TaskRequest | undefined {
  const { url, method = 'GET', headers = {}, idempotent } = followed;
  const refuse = (problem: string, isSize = false): CrawlerFault =>
    new CrawlerFault(`the request for ${String(url).slice(0, 200)}: ${problem}`, isSize ? 'too_large' : 'step');
  if (followed instanceof URL)
    throw new CrawlerFault('expected links as texts, or as requests with a `url`, got a URL: take its href');
  if (url === undefined)
    throw new CrawlerFault(
      'expected links as texts, or as requests with a `url`: page.links(css) has those of elements',
    );
  const unknown = Object.keys(followed).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw refuse(`there is no ${unknown}; there are ${FIELDS.join(', ')}`);
  if (typeof url !== 'string') throw refuse(`expected url to be a text, got a ${typeof url}`);
  if (!METHODS.includes(method))
    throw refuse(`expected method to be one of ${METHODS.join(', ')}, got ${String(method)}`);
  if (typeof headers !== 'object' || headers === null) throw refuse('expected headers to be an object');
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (Object.hasOwn(own, lower)) throw refuse(`header "${name}" is given twice`);
    if (typeof value !== 'string') throw refuse(`header "${name}": expected a text, got a ${typeof value}`);
    own[lower] = value;
  }
  const body = bodyOf(followed.body, refuse);
  const type = body?.type === undefined ? {} : { 'content-type': body.type };
  const all = { ...type, ...own };
  const request: TaskRequest = {
    method,
    ...(body === undefined ? {} : { body: body.text }),
    ...(Object.keys(all).length === 0 ? {} : { headers: all }),
    ...(idempotent === true ? { idempotent } : {}),
  };
  const wrong = requestProblem(request);
  if (wrong !== undefined) throw refuse(wrong.problem, wrong.isSize);
  const isPlain = method === 'GET' && request.headers === undefined;
  return isPlain ? undefined : request;
}

function bodyOf(
  body: unknown,
  refuse: (problem: string) => CrawlerFault,
): { readonly text: string; readonly type?: string } | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return { text: body, type: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams)
    return { text: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) throw refuse('expected a body of text, got bytes');
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error: unknown) {
    throw refuse(`its body can't be written as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) throw refuse(`its body can't be written as JSON: it is a ${typeof body}`);
  return { text, type: 'application/json' };
}
