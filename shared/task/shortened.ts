/** The beginning of a text that may be long, for messages. */
export function shortened(text: string, mostCharacters: number): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}
