/** The first characters of a text, of which none is half of a surrogate pair: one that would be is left out. */
export function beginning(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  return text.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '');
}
