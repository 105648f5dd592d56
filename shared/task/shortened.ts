/** Cuts a text to `mostCharacters`, marking the cut with `…`. For messages. */
export function shortened(text: string, mostCharacters: number): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}
