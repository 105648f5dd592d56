const XHTML = 'application/xhtml+xml';

/** The media type in a `Content-Type`, without parameters, in lower case; nothing if there is none. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() || undefined;
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
