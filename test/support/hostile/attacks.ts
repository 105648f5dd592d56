import fc from 'fast-check';

/** A text that an expression begins to match over and over, and then doesn't: `head`, `pump` any number of times, a last line. */
export interface Attack {
  readonly head: string;
  readonly pump: string;
}

export function textOf({ head, pump }: Attack, length: number): string {
  return `${head}${pump.repeat(Math.ceil(length / pump.length))}\n\u0000`;
}

/**
 * Texts that make an expression try again and again, from ever more places, if any do. Made of texts that it matches: their
 * beginnings, with what they end in repeated.
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

/** Characters that stand for all of a class: the first few that belong to it. */
const CHARACTERS = [
  ...'aZ0 \t\n-./"\'=<*%&;:,\u2028\u00a0\u0000\u001bé\ud83d',
  ...Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)),
];
const MAX_ALTERNATIVES = 6;

/** What the generator can't do: classes of few characters that can be printed, assertions, references to groups. */
const SPECIAL =
  /(?<atom>\[(?:\\.|[^\]\\])*\]|\\[pP]\{\w+\}|\\[dDsSwW]|\.)|(?<nothing>\\[bB\d]|\\k<\w+>|\(\?<?[=!](?:\\.|\[(?:\\.|[^\]\\])*\]|[^()]|\([^()]*\))*\)|[\^$])|(?<escape>\\.)/gu;

/** Texts that the expression matches, or nearly: where an assertion is left out, they are no less of an attack. */
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
