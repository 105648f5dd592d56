/**
 * Returns the URL of a `<meta http-equiv=refresh>`, as written; undefined if it only reloads the page, or is invalid. Parses it as browsers
 * do (HTML standard, section 4.2.5.3, "shared declarative refresh steps").
 *
 * @param content such as `0; url=/en/`
 */
export function refreshTarget(content: string): string | undefined {
  const rest = AFTER_TIME.exec(content)?.[1]?.replace(BEFORE_URL, '');
  if (rest === undefined) return undefined;
  const quote = rest[0];
  const isQuoted = quote === '"' || quote === "'";
  const url = isQuoted ? (rest.slice(1).split(quote, 1)[0] ?? '') : rest;
  return url === '' ? undefined : url;
}

/** Seconds, and the separator before the URL. */
const AFTER_TIME = /^[\t\n\f\r ]*[\d.]+(?=[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(.*)$/s;
const BEFORE_URL = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i;
