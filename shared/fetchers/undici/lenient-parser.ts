import type { Socket } from 'node:net';
import { parserOf } from './http1-answers.ts';

/** The leniencies that Node.js allows with `insecureHTTPParser`. */
export const ALLOWED = [
  'headers',
  'chunked_length',
  'keep_alive',
  'transfer_encoding',
  'version',
  'data_after_close',
  'optional_lf_after_cr',
  'optional_crlf_after_chunk',
  'optional_cr_before_lf',
  'spaces_after_chunk_size',
] as const;

/**
 * Makes one of undici's connections read answers as browsers do, and as Node.js does with `insecureHTTPParser`: lines that end with only a
 * line feed, folded headers, control characters in them, a length beside chunks. undici has no option for that, so it is pinned:
 * `test/unit/pinned/undici.test.ts`.
 */
export function readLeniently(socket: Socket): void {
  const parser = parserOf(socket);
  if (parser === undefined) return;
  for (const flag of ALLOWED) parser.llhttp[`llhttp_set_lenient_${flag}`]?.(parser.ptr, 1);
}
