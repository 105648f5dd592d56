/** Percent-encodes the bytes beyond ASCII in a URL from a header, as browsers do. In a host name, they are read as UTF-8. */
export function escapedBytes(url: string): string {
  return url.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
