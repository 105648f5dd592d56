const XHTML = 'application/xhtml+xml';

/** A media type, and what may stand behind it, also where a semicolon is missing. */
const MEDIA_TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)(?=[;\s(]|$)/;
/** What servers send for "I don't know" (MIME Sniffing standard, section 7). */
const UNKNOWN: ReadonlySet<string> = new Set(['unknown/unknown', 'application/unknown']);

/**
 * The media type in a `Content-Type`, without parameters, in lower case, as browsers read it: the last of several; nothing if there
 * is none, such as in `html`, `charset=utf-8` or an asterisk for any type.
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

/** A page without a type is taken for HTML: servers that omit the type mostly serve HTML. */
export function isHtml(mediaType: string | undefined): boolean {
  return mediaType === undefined || mediaType === 'text/html' || mediaType === XHTML;
}

export function isXhtml(mediaType: string | undefined): boolean {
  return mediaType === XHTML;
}

/** XML, such as a feed, but not XHTML. */
export function isXml(mediaType: string | undefined): boolean {
  return mediaType !== XHTML && /[/+]xml$/.test(mediaType ?? '');
}
