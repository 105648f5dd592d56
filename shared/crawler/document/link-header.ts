import { firstMatch } from '../../task/first-match.ts';

/** A link of a `Link` header. */
export interface HeaderLink {
  /** As written. */
  readonly uri: string;
  /** Its relation types, separated by white space; empty if it has none. */
  readonly rel: string;
  /** Whether it is a link of another resource than the answer's. */
  readonly hasAnchor: boolean;
}

/**
 * Reads a `Link` header (RFC 8288, appendix B.2), also several joined by commas. A parameter may have no value, as `crossorigin` and `nopush`
 * do. A link that can't be read costs no other.
 */
export function linksOf(header: string): readonly HeaderLink[] {
  const links: HeaderLink[] = [];
  for (let at = firstMatch(header, NO_SEPARATOR); at < header.length; at = firstMatch(header, NO_SEPARATOR, at)) {
    if (header[at] === '<') {
      const end = header.indexOf('>', at);
      if (end < 0) break;
      const { values, after } = parametersAt(header, end + 1);
      const rel = values.get('rel') ?? '';
      links.push({ uri: header.slice(at + 1, end).trim(), rel, hasAnchor: values.has('anchor') });
      at = after;
    }
    at = firstMatch(header, COMMA, at);
  }
  return links;
}

const NO_SEPARATOR = /[^\s,]/g;
const COMMA = /,/g;
/** A parameter, whose value may be missing, and a quoted one's last quotation mark as well. */
const PARAMETER = /[\t ]*;[\t ]*([^\s;,="]*)(?:[\t ]*=[\t ]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"?|([^;,]*)))?/sy;

/** Reads the parameters of a link. Of several with one name, the first counts, as for `rel` (RFC 8288, section 3.3). */
function parametersAt(header: string, from: number): { values: ReadonlyMap<string, string>; after: number } {
  const values = new Map<string, string>();
  let after = from;
  for (;;) {
    PARAMETER.lastIndex = after;
    const found = PARAMETER.exec(header);
    if (found === null) return { values, after };
    after = PARAMETER.lastIndex;
    const [, name = '', quoted, plain = ''] = found;
    const key = name.toLowerCase();
    if (!values.has(key)) values.set(key, quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain.trim());
  }
}
