/** The name of this crawler in robots directives, in lower case. */
const TOKEN = 'trawlbot';

/** Directives that are followed by a colon, like the name of a crawler. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);

/** Is a `<meta name>` for all robots, or for this one? */
export function isRobotsMeta(name: string): boolean {
  const lower = name.trim().toLowerCase();
  return lower === 'robots' || lower === TOKEN;
}

/**
 * Does a page ask that its links not be followed? Reads the content of a robots `<meta>`, or an `X-Robots-Tag`, in which
 * directives after the name of a crawler apply only to that crawler.
 */
export function forbidsFollowing(directives: string): boolean {
  let isOurs = true;
  for (const part of directives.toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const name = part.slice(0, Math.max(0, colon)).trim();
    if (name !== '' && WITH_VALUE.has(name)) continue;
    // White space is in no name, but in a date, which may have a comma as well: `Wed, 25 Jun 2030 15:00:00 GMT`.
    if (name !== '' && !/\s/.test(name)) isOurs = name === TOKEN;
    const rule = part.slice(colon + 1).trim();
    if (isOurs && (rule === 'nofollow' || rule === 'none')) return true;
  }
  return false;
}
