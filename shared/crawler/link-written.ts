/** Returns a link as the page writes it, without its fragment; undefined if it stays on the page or isn't http or https. */
export function linkWritten(written: string): string | undefined {
  const href = withoutFragment(written);
  // A fragment alone is the page itself.
  return href === '' || (!href.startsWith('/') && NOT_HTTP.test(href)) ? undefined : href;
}

/** Returns whether a URL begins with a scheme other than http and https. */
export function hasOtherScheme(href: string): boolean {
  return NOT_HTTP.test(href);
}

const NOT_HTTP = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;

/** Removes a link's fragment, and the leading characters that the URL Standard strips. */
export function withoutFragment(href: string): string {
  let start = 0;
  while (href.charCodeAt(start) <= 0x20) start++;
  const fragment = href.indexOf('#', start);
  if (fragment < 0) return start === 0 ? href : href.slice(start);
  // The URL Standard strips white space at the end of a URL, but not in front of a fragment: keep the `#` there.
  return href.slice(start, href.charCodeAt(fragment - 1) <= 0x20 && fragment > start ? fragment + 1 : fragment);
}

/** Returns whether a list separated by white space, such as a `rel`, contains a word. */
export function hasWord(list: string | null | undefined, word: string): boolean {
  return (
    list !== undefined &&
    list !== null &&
    list !== '' &&
    list
      .toLowerCase()
      .split(/[\t\n\f\r ]+/)
      .includes(word)
  );
}
