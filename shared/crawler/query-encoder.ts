import type { QueryEncoder } from '../task/url/url.ts';
import { whatwg } from './tools/libraries.ts';

/** ASCII characters that are escaped: the special-query percent-encode set (URL standard, section 1.3). */
const ESCAPED = ' "#\'<>';

/**
 * Returns a function that writes a link's query as browsers do on a page in an old encoding: in that encoding, since the server wouldn't
 * understand UTF-8 (URL standard, "percent-encode after encoding"). A character that the encoding lacks is written as an entity.
 * Undefined for pages in UTF-8 or UTF-16, whose queries are in UTF-8 (Encoding standard, "get an output encoding").
 *
 * @param charset the page's encoding, by its WHATWG name in lower case
 */
export function queryEncoderOf(charset: string): QueryEncoder | undefined {
  if (charset.startsWith('utf-')) return undefined;
  return (query) => {
    return query.replace(/[^\0-\x7f]+/g, (letters) => whatwg().percentEncodeAfterEncoding(charset, letters, ESCAPED));
  };
}
