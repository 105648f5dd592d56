/** Returns the `trawl` command that does the same as a button, safe to paste into a shell. Undefined words are left out. */
export function commandLine(...words: readonly (string | undefined)[]): string {
  return ['trawl', ...words.filter((word) => word !== undefined)].map(quoted).join(' ');
}

/** Commands that act on the fleet unless they are given `--local`. */
const OF_EITHER = /^trawl (?:cancel|dlq|forget|limit|pause|resume|seal|status|url|workers) /;

/** Returns the command as it must be for the crawls of this machine. */
export function localCommand(command: string): string {
  return OF_EITHER.test(command) ? `${command} --local` : command;
}

/** Returns a flag with its value, or nothing if the value is empty. */
export function flag(name: string, value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [name, value];
}

/** Characters that a terminal would execute or that hide part of the pasted text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function quoted(word: string): string {
  if (UNSAFE.test(word)) return `$'${[...word].map(escaped).join('')}'`;
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns a character as written within `$'…'`, which bash and zsh understand. */
function escaped(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  if (!UNSAFE.test(character)) return character;
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
