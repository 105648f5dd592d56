import { TextDecoder } from 'node:util';

/** A decoder of text as it arrives: `TextDecoder`, or one that takes the place of one. */
export interface Decoder {
  /** The encoding, by its WHATWG name in lower case. */
  readonly encoding: string;
  decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

const REPLACEMENT = 0xfffd;
/** Lead bytes, trail bytes. The table has a row for each lead byte. */
const [FIRST_LEAD, LAST_LEAD, FIRST_TRAIL, LAST_TRAIL] = [0x81, 0xfe, 0x41, 0xfe];
const ROW = LAST_TRAIL - FIRST_TRAIL + 1;
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
/** Characters for private use. */
const FIRST_PRIVATE = 0xe000;
const LAST_PRIVATE = 0xf8ff;
/** Both bytes of a character of KS X 1001 are at least this. */
const FIRST_OF_STANDARD = 0xa1;
/** The last lead byte of syllables that KS X 1001 lacks. */
const LAST_ADDED_LEAD = 0xc6;
/** Signs that came into KS X 1001 later. */
const ADDED_SIGNS = [
  [0xa2, 0xe6, '€'],
  [0xa2, 0xe7, '®'],
] as const;

let table: Uint16Array | undefined;

/**
 * Decodes `euc-kr` as the Encoding standard has it, which is windows-949: with all 11,172 syllables, of which the decoder of Node.js
 * knows the 2,350 of KS X 1001.
 */
export class KoreanDecoder implements Decoder {
  readonly encoding = 'euc-kr';
  readonly #table: Uint16Array;
  #lead = 0;

  constructor() {
    table ??= newTable();
    this.#table = table;
  }

  decode(bytes: Uint8Array = new Uint8Array(), { stream = false }: { readonly stream?: boolean } = {}): string {
    // A byte gives one character at most, but for one that ends a character that is none.
    const text = new Uint16Array(2 * bytes.length + 1);
    const characters = this.#table;
    let length = 0;
    let lead = this.#lead;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (lead === 0) {
        if (byte < 0x80) text[length++] = byte;
        else if (byte >= FIRST_LEAD && byte <= LAST_LEAD) lead = byte;
        else text[length++] = REPLACEMENT;
        continue;
      }
      const isTrail = byte >= FIRST_TRAIL && byte <= LAST_TRAIL;
      const found = isTrail ? (characters[placeOf(lead, byte)] ?? 0) : 0;
      lead = 0;
      text[length++] = found === 0 ? REPLACEMENT : found;
      if (found === 0 && byte < 0x80) text[length++] = byte;
    }
    if (!stream && lead !== 0) {
      text[length++] = REPLACEMENT;
      lead = 0;
    }
    this.#lead = lead;
    return Buffer.from(text.buffer, 0, 2 * length).toString('utf16le');
  }
}

function placeOf(lead: number, trail: number): number {
  return (lead - FIRST_LEAD) * ROW + trail - FIRST_TRAIL;
}

/** The characters by lead and trail byte; 0 where there is none. The syllables that KS X 1001 lacks fill the gaps around it in order. */
function newTable(): Uint16Array {
  const characters = new Uint16Array((LAST_LEAD - FIRST_LEAD + 1) * ROW);
  const standard = new TextDecoder('euc-kr');
  const known = new Set<number>();
  for (let lead = FIRST_OF_STANDARD; lead <= LAST_LEAD; lead++) {
    for (let trail = FIRST_OF_STANDARD; trail <= LAST_TRAIL; trail++) {
      const text = standard.decode(Uint8Array.of(lead, trail));
      const character = text.length === 1 ? text.charCodeAt(0) : REPLACEMENT;
      if (character === REPLACEMENT || isPrivate(character)) continue;
      characters[placeOf(lead, trail)] = character;
      known.add(character);
    }
  }
  for (const [lead, trail, character] of ADDED_SIGNS) characters[placeOf(lead, trail)] = character.charCodeAt(0);
  let syllable = FIRST_SYLLABLE;
  for (let lead = FIRST_LEAD; lead <= LAST_ADDED_LEAD; lead++) {
    const last = lead < FIRST_OF_STANDARD ? LAST_TRAIL : FIRST_OF_STANDARD - 1;
    for (let trail = FIRST_TRAIL; trail <= last; trail++) {
      if (!isLetter(trail) && trail < 0x81) continue;
      while (known.has(syllable)) syllable += 1;
      if (syllable > LAST_SYLLABLE) return characters;
      characters[placeOf(lead, trail)] = syllable;
      syllable += 1;
    }
  }
  return characters;
}

/** Node.js has such characters where the standard has none. */
function isPrivate(character: number): boolean {
  return character >= FIRST_PRIVATE && character <= LAST_PRIVATE;
}

/** Is it an ASCII letter? */
function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}
