/** A URL of a header, whose bytes beyond ASCII are percent-encoded, as browsers do. In the name of a host they are UTF-8. */
export function escapedBytes(url: string): string {
  return url.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
