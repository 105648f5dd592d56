/**
 * Where a `<meta http-equiv=refresh>` leads, as it is written; nothing if that is the page itself, or nowhere. Read as browsers do (HTML
 * standard, section 4.2.5.3, "shared declarative refresh steps").
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

/** Seconds, and what separates them from the URL. */
const AFTER_TIME = /^[\t\n\f\r ]*[\d.]+(?=[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(.*)$/s;
const BEFORE_URL = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i;
