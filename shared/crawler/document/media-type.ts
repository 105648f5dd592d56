const XHTML = 'application/xhtml+xml';

/** A media type and the characters that can follow it, even if the semicolon is missing. */
const MEDIA_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)(?=[;\s(]|$)/;
/** Types that servers send for "I don't know" (MIME Sniffing standard, section 7). */
const UNKNOWN: ReadonlySet<string> = new Set(['unknown/unknown', 'application/unknown']);

/**
 * Returns the media type in a `Content-Type`, in lower case and without parameters. Takes the last of several, as browsers do. Undefined if
 * there is none, as in `html`, `charset=utf-8` or an asterisk for any type.
 */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  if (!contentType?.includes(',')) return typeIn(contentType ?? '');
  return contentType
    .split(',')
    .map(typeIn)
    .findLast((type) => type !== undefined);
}

function typeIn(text: string): string | undefined {
  const type = MEDIA_TYPE.exec(text)?.[1]?.toLowerCase();
  return type === undefined || UNKNOWN.has(type) ? undefined : type;
}

/** Returns whether a page is HTML. A page without a type counts as HTML, since servers that omit the type mostly serve HTML. */
export function isHtml(mediaType: string | undefined): boolean {
  return mediaType === undefined || mediaType === 'text/html' || mediaType === XHTML;
}

export function isXhtml(mediaType: string | undefined): boolean {
  return mediaType === XHTML;
}

/** Returns whether a page is XML, such as a feed, but not XHTML. */
export function isXml(mediaType: string | undefined): boolean {
  return mediaType !== XHTML && /[/+]xml$/.test(mediaType ?? '');
}
