/** Returns host and port of a URL, without its credentials. */
export function placeOf(url: string): string {
  return new URL(url).host;
}
