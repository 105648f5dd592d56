import type { QueryEncoder } from '../task/url/url.ts';
import { whatwg } from './tools/libraries.ts';

/** What is escaped of the bytes that are ASCII: the special-query percent-encode set (URL standard, section 1.3). */
const ESCAPED = ' "#\'<>';

/**
 * Writes the query of a link as browsers do on a page in an old encoding: in that encoding, not in UTF-8, which its server wouldn't
 * understand (URL standard, "percent-encode after encoding"). A character that the encoding lacks is written as an entity. Nothing
 * for pages in UTF-8 or UTF-16, whose queries are in UTF-8 (Encoding standard, "get an output encoding").
 *
 * @param charset the page's encoding, by its WHATWG name in lower case
 */
export function queryEncoderOf(charset: string): QueryEncoder | undefined {
  if (charset.startsWith('utf-')) return undefined;
  return (query) => {
    return query.replace(/[^\0-\x7f]+/g, (letters) => whatwg().percentEncodeAfterEncoding(charset, letters, ESCAPED));
  };
}
