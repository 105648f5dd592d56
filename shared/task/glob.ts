/**
 * Does a pattern match all of a text? `*` stands for any characters, none and `/` included; everything else for itself.
 *
 * Two pointers and one way back, to the last `*`: time is at most the product of both lengths, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resumeAt = i;
    } else if (pattern[at] === text[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** What a pattern for URLs may begin with: it is matched against path and query, or against the whole URL. */
const BEGINNING = /^(?:\/|\*|https?:\/\/)/;

/** Would a URL ever match it? `news/*` would not. */
export function isUrlPattern(pattern: string): boolean {
  return BEGINNING.test(pattern);
}

/** A pattern that begins with `/` is matched against path and query, any other against the whole URL. */
export function matchesUrl(pattern: string, href: string): boolean {
  return matchesGlob(pattern, pattern.startsWith('/') ? href.slice(href.indexOf('/', href.indexOf('//') + 2)) : href);
}
