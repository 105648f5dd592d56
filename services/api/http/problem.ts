import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { size } from '../../../shared/control/format.ts';
import {
  ConfigurationError,
  messageOf,
  StorageError,
  UnavailableError,
  UsageError,
} from '../../../shared/runtime/errors.ts';
import { wellFormedJson } from '../../../shared/runtime/printable.ts';
import { firstMatch } from '../../../shared/task/first-match.ts';
import { shortened } from '../../../shared/task/shortened.ts';
import { withoutCredentialsIn } from '../../../shared/task/url/url.ts';

/** Stable codes of problems, for programs, each with its HTTP status. The wording of a problem can change, its code doesn't. */
const CODES = {
  usage: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_run: 404,
  unknown_worker: 404,
  unknown_letter: 404,
  unknown_crawler: 404,
  unknown_batch: 404,
  method_not_allowed: 405,
  wrong_state: 409,
  records_elsewhere: 409,
  timeout: 408,
  too_large: 413,
  headers_too_large: 431,
  unsupported_media_type: 415,
  expectation_failed: 417,
  malformed: 422,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
} as const;
export type ProblemCode = keyof typeof CODES;

/** An answer of type `application/problem+json` (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: ProblemCode, detail: string, { retryAfterMs }: { readonly retryAfterMs?: number } = {}) {
    super(detail);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  get status(): number {
    return CODES[this.code];
  }
}

export const problemSchema = z
  .object({
    type: z.string().describe('about:blank: `code` says what it is'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(CODES) as [ProblemCode, ...ProblemCode[]]),
  })
  .describe('Why a request was refused (RFC 9457).');

/** Returns the problem of a body that is not JSON. */
export function wrongMediaType(): Problem {
  return new Problem('unsupported_media_type', 'expected a body of type application/json');
}

/** When to retry after an outage: the service may be back soon. */
const RETRY_AFTER_MS = 5_000;

export const PROBLEM_TYPE = 'application/problem+json';

/** Returns the problem of an unknown run. */
export function unknownRun(run: string): Problem {
  return new Problem('unknown_run', `no run ${run} is known`);
}

/** Returns the problem of an unknown crawler. It names no folder or file, which are not for HTTP clients. */
export function unknownCrawler(name: string, nearest: string | undefined): Problem {
  const guess = nearest === undefined ? '' : `: did you mean ${nearest}?`;
  return new Problem('unknown_crawler', `there is no crawler ${name} here${guess}`);
}

/** Maximum characters of one part of a path, such as an id or a host, before it is decoded. */
export const MOST_OF_PATH_PART = 2_048;

/**
 * Returns the problem that answers for an error. Only bugs are `internal`; their message goes to the log and not to the client.
 *
 * @param mostBytes limit of the route's body, where the route is known
 */
export function problemOf(error: unknown, mostBytes?: number): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return new Problem('usage', validationText(error));
  if (error instanceof UsageError) return new Problem('usage', error.message);
  if (error instanceof ConfigurationError) return new Problem('usage', error.problems.join('; '));
  if (error instanceof UnavailableError || error instanceof StorageError)
    return new Problem('unavailable', error.message, { retryAfterMs: RETRY_AFTER_MS });
  const { statusCode: status, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new Problem('usage', `expected each part of the path to have at most ${MOST_OF_PATH_PART} characters`);
  if (status === 413) return tooLarge(mostBytes);
  if (status === 415) return wrongMediaType();
  // 403 means a path that leads out of the folder of the dashboard's files.
  if (status === 404 || status === 403) return new Problem('not_found', 'there is nothing here');
  if (status === 408) return new Problem('timeout', 'the body did not come in time');
  if (status !== undefined && status >= 400 && status < 500) return new Problem('usage', messageOf(error));
  return new Problem('internal', 'internal error: the log of the API has the details');
}

function tooLarge(mostBytes: number | undefined): Problem {
  if (mostBytes === undefined) return new Problem('too_large', 'the body is too large');
  return new Problem('too_large', `expected a body of at most ${size(mostBytes)}: split it into several requests`);
}

/** Answers with a problem. */
export function sendProblem(problem: Problem, reply: FastifyReply): FastifyReply {
  const { status, retryAfterMs } = problem;
  if (retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(retryAfterMs / 1_000));
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="trawl"');
  return reply.code(status).type(PROBLEM_TYPE).send(problemText(problem));
}

/** Returns the body of the answer for a problem. */
export function problemText({ status, code, message }: Problem): string {
  const title = STATUS_CODES[status] ?? 'Error';
  return wellFormedJson(JSON.stringify({ type: 'about:blank', title, status, detail: detailOf(message), code }));
}

/** Maximum characters of a detail. */
const MOST_OF_DETAIL = 4_000;
/** The beginning of a word too long for a message, such as a URL or name quoted from the request. */
const LONG_WORD = /(?<!\S)\S{300}(?=\S)/g;
const SPACE = /\s/g;

/** Returns a problem's detail without credentials and cut to a bounded length: it can quote the request. */
function detailOf(message: string): string {
  // Before cutting: credentials that were cut in two would no longer be found.
  return shortened(withShortWords(withoutCredentialsIn(message)), MOST_OF_DETAIL);
}

function withShortWords(text: string): string {
  let short = '';
  let from = 0;
  for (const { index, 0: beginning } of text.matchAll(LONG_WORD)) {
    short += `${text.slice(from, index)}${beginning}…`;
    from = firstMatch(text, SPACE, index);
  }
  return short + text.slice(from);
}

interface Validation {
  readonly validationContext?: string;
  readonly validation: readonly { readonly instancePath?: string; readonly message?: string }[];
}

function validationText(error: unknown): string {
  const { validation, validationContext = 'request' } = error as Validation;
  const said = validation.map(({ instancePath = '', message = 'is not allowed' }) => {
    // The path `/` means the whole of it.
    const where = instancePath === '/' ? validationContext : `${validationContext}${instancePath.replaceAll('/', '.')}`;
    return `${where}: ${message}`;
  });
  return said.slice(0, 10).join('; ');
}
