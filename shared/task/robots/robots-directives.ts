/** The name of this crawler in robots directives, in lower case. */
const TOKEN = 'trawlbot';

/** Directives that are followed by a colon and a value; the colon could otherwise mean that they name a crawler. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);

/** Does the `name` of a `<meta>` address all robots, or this one? */
export function isRobotsMeta(name: string): boolean {
  const lower = name.trim().toLowerCase();
  return lower === 'robots' || lower === TOKEN;
}

/**
 * Does a page ask that its links not be followed? Reads the content of a robots `<meta>`, or an `X-Robots-Tag`, in which
 * directives after the name of a crawler apply only to that crawler. Semicolons and white space also separate directives.
 */
export function forbidsFollowing(directives: string): boolean {
  let isOurs = true;
  for (const part of directives.toLowerCase().split(/[,;]/)) {
    const name = nameIn(part);
    const isNamed = isCrawler(name);
    if (isNamed) isOurs = name === TOKEN;
    const rules = isNamed ? part.slice(part.indexOf(':') + 1) : part;
    if (!isOurs || WITH_VALUE.has(nameIn(rules))) continue;
    if (rules.split(/\s+/).some((rule) => rule === 'nofollow' || rule === 'none')) return true;
  }
  return false;
}

/** Joins several `X-Robots-Tag` into one. Directives for all crawlers come first, so that a crawler's name in another tag doesn't apply to them. */
export function joinedRobotsTags(tags: readonly string[]): string {
  const toAll: string[] = [];
  const toSome: string[] = [];
  for (const tag of tags) {
    const parts = tag.split(',').map((part) => part.trim());
    const named = parts.findIndex((part) => isCrawler(nameIn(part.toLowerCase())));
    const end = named < 0 ? parts.length : named;
    toAll.push(...parts.slice(0, end));
    toSome.push(...parts.slice(end));
  }
  return [...toAll, ...toSome].join(', ');
}

/** Returns the text before the colon of a directive; empty without a colon. */
function nameIn(part: string): string {
  return part.slice(0, Math.max(0, part.indexOf(':'))).trim();
}

/** Is a text before a colon the name of a crawler? With white space it is part of a date, such as `Wed, 25 Jun 2030 15:00:00 GMT`. */
function isCrawler(name: string): boolean {
  return name !== '' && !WITH_VALUE.has(name) && !/\s/.test(name);
}
