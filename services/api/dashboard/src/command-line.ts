/** The command that does what a button does, safe to paste into a shell. Words that are left out are not given. */
export function commandLine(...words: readonly (string | undefined)[]): string {
  return ['trawl', ...words.filter((word) => word !== undefined)].map(quoted).join(' ');
}

/** Commands that otherwise mean the fleet's. */
const OF_EITHER = /^trawl (?:cancel|dlq|forget|limit|pause|resume|seal|status|url|workers) /;

/** The command for the crawls of this machine. */
export function localCommand(command: string): string {
  return OF_EITHER.test(command) ? `${command} --local` : command;
}

/** A flag and its value, if there is one. */
export function flag(name: string, value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [name, value];
}

/** Characters that a terminal would obey, or that hide what is pasted. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function quoted(word: string): string {
  if (UNSAFE.test(word)) return `$'${[...word].map(escaped).join('')}'`;
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A character within `$'…'`, which bash and zsh read. */
function escaped(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  if (!UNSAFE.test(character)) return character;
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
