/** Returns the first characters of a text, without the half of a surrogate pair if the cut falls inside one. */
export function beginning(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  return text.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '');
}
