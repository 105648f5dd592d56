/** How {@link numberIn} reads an ambiguous number. */
export interface NumberOptions {
  /** The decimal separator. Default: the one that the number itself suggests; see {@link numberIn}. */
  readonly decimal?: ',' | '.';
}

/**
 * Returns the first number in a text; undefined if there is none. Ignores a currency, a unit or a percent sign beside it.
 *
 * | written                               | read       | because                                                                   |
 * |---------------------------------------|------------|---------------------------------------------------------------------------|
 * | `1.299,00 €`, `$1,299.50`             | 1299, 1299.5 | with two kinds of separator, the last is decimal                        |
 * | `1.299.500`, `1,29,999`               | 1299500, 129999 | a separator that occurs twice groups digits                          |
 * | `1 299,50`, `1'299.50`                | 1299.5     | spaces and apostrophes group three digits                                 |
 * | `12,5`, `3.14159`, `0.299`            | 12.5, …    | no group has that many digits or follows a 0                              |
 * | `1.299`, `1,299`                      | 1299       | either is possible; prices are grouped. `{ decimal: '.' }` makes `1.299` 1.299 |
 * | `-5`, `−5`, `-$5`                     | -5         | but `10-20` is 10                                                         |
 * | `٣٤٥٫٥٠`, `１２９９円`                  | 345.5, 1299 | digits of any script                                                     |
 */
export function numberIn(text: string, { decimal }: NumberOptions = {}): number | undefined {
  const at = text.search(A_DIGIT);
  if (at < 0) return undefined;
  // Digits of other scripts are translated one by one, and a text can have megabytes of them.
  const found = NUMBER.exec(inAscii(text.slice(Math.max(0, at - LONGEST_SIGN), at + LONGEST_NUMBER)));
  if (found === null) return undefined;
  const { sign = '', digits = '' } = found.groups ?? {};
  const value = Number(plain(digits, decimal));
  if (!Number.isFinite(value)) return undefined;
  return sign === '' || sign === '+' ? value : -value;
}

/** Translates digits and separators of other scripts to ASCII: `٣٤٥٫٥٠` to `345.50`, `１２９９` to `1299`. */
function inAscii(text: string): string {
  return text.replace(/\P{ASCII}/gu, (found) => SEPARATORS[found] ?? (DIGIT.test(found) ? digitOf(found) : found));
}

const A_DIGIT = /[\p{Nd}]/u;
const DIGIT = /^\p{Nd}/u;
/** Code units that are read before the first digit of a number, and from there on. */
const LONGEST_SIGN = 16;
const LONGEST_NUMBER = 2_000;
const SEPARATORS: Readonly<Record<string, string>> = { '٫': '.', '٬': ',', '．': '.', '，': ',' };

/** Returns the value of a decimal digit. Unicode has digits in runs from 0 to 9, sometimes several runs in a row. */
function digitOf(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((codePoint - zero) % 10);
}

/**
 * A sign counts unless it is in the middle of a word or a range. A currency can stand between sign and digits. A point or a comma without
 * digits before it begins a number only at the start of a word.
 */
const NUMBER =
  /(?:(?<![\p{L}\p{N}])(?<sign>[-−+]) ?\p{Sc}? ?)?(?<digits>(?:\d|(?<![\p{L}\p{N}.,])[.,](?=\d))\d{0,40}(?:[.,'’ \u00a0\u2009\u202f]\d{1,40}){0,20})/u;
const SPACES_AND_APOSTROPHES = /^['’ \u00a0\u2009\u202f]$/;

/** Rewrites digits and separators in the form that JavaScript reads. Cuts off what can't belong to the number. */
function plain(written: string, decimal: ',' | '.' | undefined): string {
  const [first = '', ...rest] = written.split(/(?=[^\d])/);
  if (/^[.,]/.test(first)) return `0.${first.slice(1)}`;
  const groups = rest.map((part) => ({ separator: part.charAt(0), digits: part.slice(1) }));
  let whole = first;
  let grouping: string | undefined;
  for (const [at, { separator, digits }] of groups.entries()) {
    const isGroup = groupsDigits(separator, groups.slice(at), { decimal, grouping, whole });
    if (isGroup) {
      whole += digits;
      grouping = separator;
    } else {
      return SPACES_AND_APOSTROPHES.test(separator) || separator === grouping
        ? whole
        : decimals(whole, separator, digits, decimal);
    }
  }
  return whole;
}

function decimals(whole: string, separator: string, digits: string, decimal: ',' | '.' | undefined): string {
  return decimal === undefined || separator === decimal ? `${whole}.${digits}` : whole;
}

interface Before {
  readonly decimal: ',' | '.' | undefined;
  /** The separator that has grouped digits so far. */
  readonly grouping: string | undefined;
  readonly whole: string;
}

/** Returns whether the separator of the first group separates thousands. */
function groupsDigits(
  separator: string,
  [group, next, afterNext]: readonly { readonly separator: string; readonly digits: string }[],
  { decimal, grouping, whole }: Before,
): boolean {
  const length = group?.digits.length ?? 0;
  if (separator === decimal || (grouping !== undefined && separator !== grouping)) return false;
  if (grouping === undefined && (whole.length > 3 || whole === '0')) return false;
  // India groups by two digits, except for the last three.
  if (length === 2 && separator === ',') {
    const last = next?.digits.length === 2 ? afterNext : next;
    return last?.separator === ',' && last.digits.length === 3;
  }
  return length === 3;
}
