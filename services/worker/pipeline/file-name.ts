import mime from 'mime';

/** What an ending may be made of: the rest of a URL's path may be anything. */
const ENDING = /\.([a-z0-9]{1,10})$/i;
/** Types that servers give to anything. */
const VAGUE: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/octet-stream',
  'application/x-download',
  'application/force-download',
  'binary/octet-stream',
  'text/plain',
]);

/**
 * The ending of a file's name, without a dot: that of its URL if it fits the type, else the usual one of the type. Nothing if
 * neither is known. The rest of the URL, and what a `Content-Disposition` says, are not looked at: a host chooses no name on
 * this machine.
 */
export function extensionOf(contentType: string | undefined, url: string): string | undefined {
  const written = ENDING.exec(new URL(url).pathname)?.[1]?.toLowerCase();
  const known = written === undefined ? null : mime.getType(written);
  if (known !== null && (VAGUE.has(contentType) || known === contentType)) return written;
  return contentType === undefined ? undefined : (mime.getExtension(contentType) ?? undefined);
}
