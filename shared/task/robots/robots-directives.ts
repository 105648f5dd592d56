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
 * directives after the name of a crawler apply only to that crawler. Where commas are missing, semicolons and white space separate them.
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

/** Several `X-Robots-Tag` as one: what each says to all crawlers comes first, so that no name in another applies to it. */
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

/** What stands before the colon of a directive. */
function nameIn(part: string): string {
  return part.slice(0, Math.max(0, part.indexOf(':'))).trim();
}

/** White space is in no crawler's name, but in a date, which may have a comma as well: `Wed, 25 Jun 2030 15:00:00 GMT`. */
function isCrawler(name: string): boolean {
  return name !== '' && !WITH_VALUE.has(name) && !/\s/.test(name);
}
