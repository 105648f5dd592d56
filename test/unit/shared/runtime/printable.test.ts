import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, printableJson, wellFormedJson } from '../../../../shared/runtime/printable.ts';

const codesOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCharCode(from + i));

// biome-ignore format: a table
const OBEYED: readonly (readonly [name: string, characters: readonly string[]])[] = [
  ['C0 controls',         codesOf(0x00, 0x1f)],
  ['DEL and C1 controls', codesOf(0x7f, 0x9f)],
  ['line separators',     codesOf(0x2028, 0x2029)],
  ['bidi embeddings',     codesOf(0x202a, 0x202e)],
  ['bidi isolates',       codesOf(0x2066, 0x2069)],
  ['bidi marks',          ['\u061c', '\u200e', '\u200f']],
];

test.each(OBEYED)('%s are written as escapes', (_, characters) => {
  for (const character of characters) {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    expect(printable(`a${character}b`)).toBe(`a\\u${code}b`);
    const text = printableJson(JSON.stringify({ [character]: `a${character}b` }, undefined, 2));
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    expect(JSON.parse(text), 'the same to who reads it').toEqual({ [character]: `a${character}b` });
  }
});

// biome-ignore format: a table
test.each([
  ['a space without a width',    '\u200bhttps://a.test/', '\\u200bhttps://a.test/'],
  ['a byte order mark within',   'a\ufeffb',              'a\\ufeffb'],
  ['a soft hyphen',              'pass\u00adword',        'pass\\u00adword'],
  ['a filler',                   'a\u3164b',              'a\\u3164b'],
  ['letters that nobody sees',   'a\u{e0041}b',           'a\\u{e0041}b'],
])('%s is seen on a terminal, and JSON is left as it is', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printableJson(JSON.stringify(text))).toBe(JSON.stringify(text));
});

test('ordinary text stays as it is', () => {
  const text = 'Zażółć gęślą jaźń; שלום; 你好; 👩‍👩‍👧; ❤\ufe0f; می\u200cخواهم; é; \u00a0; "quoted" \\u001b';
  expect(printable(text)).toBe(text);
  expect(printableJson(JSON.stringify(text))).toBe(JSON.stringify(text));
});

// biome-ignore format: a table
test.each([
  ['an emoji cut in two',      'Hi \ud83d',          '"Hi \ufffd"'],
  ['its other half',           '\ude00!',            '"\ufffd!"'],
  ['one that is whole',        'Hi 😀',              '"Hi 😀"'],
  ['what only looks like one', 'a\\ud83d',           '"a\\\\ud83d"'],
  ['one behind a backslash',   'a\\\ud83d',          '"a\\\\\ufffd"'],
])('strict readers of JSON can read %s', (_, text, json) => {
  expect(printableJson(JSON.stringify(text))).toBe(json);
});

test('JSON of any text is well-formed, and otherwise the same', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'\\ud83\ud83d\ude00"') })),
  );
  fc.assert(
    fc.property(texts, (given) => {
      const expected = given.map((text) => text.toWellFormed());
      for (const written of [wellFormedJson, printableJson])
        expect(JSON.parse(written(JSON.stringify(given)))).toEqual(expected);
    }),
  );
});
