import fc from 'fast-check';

/** A text that an expression keeps starting to match and then doesn't: `head`, `pump` any number of times, a last line. */
export interface Attack {
  readonly head: string;
  readonly pump: string;
}

export function textOf({ head, pump }: Attack, length: number): string {
  return `${head}${pump.repeat(Math.ceil(length / pump.length))}\n\u0000`;
}

/**
 * Texts that would make a weak expression backtrack from ever more places. Built from texts that it matches: their
 * beginnings, with their ends repeated.
 */
export function attacksOn(pattern: RegExp): Attack[] {
  const attacks = new Map<string, Attack>();
  for (const matching of fc.sample(matchesOf(pattern), { numRuns: 8, seed: 1 })) {
    for (let end = 1; end <= matching.length; end += Math.ceil(matching.length / 10)) {
      const head = matching.slice(0, end);
      for (const pump of [head, head.slice(-1), head.slice(-Math.ceil(end / 2)), ' ', '\u2028', 'a']) {
        attacks.set(`${head}\n${pump}`, { head, pump });
      }
    }
  }
  return [...attacks.values()];
}

/** Candidates to stand for a character class: the first few that belong to it are used. */
const CHARACTERS = [
  ...'aZ0 \t\n-./"\'=<*%&;:,\u2028\u00a0\u0000\u001bé\ud83d',
  ...Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)),
];
const MAX_ALTERNATIVES = 6;

/** Syntax that the generator can't handle: classes with few printable characters, assertions, references to groups. */
const SPECIAL =
  /(?<atom>\[(?:\\.|[^\]\\])*\]|\\[pP]\{\w+\}|\\[dDsSwW]|\.)|(?<nothing>\\[bB\d]|\\k<\w+>|\(\?<?[=!](?:\\.|\[(?:\\.|[^\]\\])*\]|[^()]|\([^()]*\))*\)|[\^$])|(?<escape>\\.)/gu;

/** Texts that the expression matches, or nearly: without its assertions they are just as good as attacks. */
function matchesOf({ source, flags }: RegExp): fc.Arbitrary<string> {
  const simple = source.replaceAll(SPECIAL, (all, ...rest) => {
    const { atom, nothing } = rest.at(-1) as { readonly atom?: string; readonly nothing?: string };
    if (nothing !== undefined) return '';
    return atom === undefined ? all : alternativesOf(new RegExp(`^${atom}$`, flags.replaceAll(/[gym]/g, '')));
  });
  return /^[()?:]*$/.test(simple) ? fc.constant('') : fc.stringMatching(new RegExp(`^(?:${simple})$`));
}

function alternativesOf(atom: RegExp): string {
  const matching = CHARACTERS.filter((character) => atom.test(character)).slice(0, MAX_ALTERNATIVES);
  return `(?:${matching.map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('|')})`;
}
