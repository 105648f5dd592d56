import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newDecoder } from '../../../../../shared/crawler/document/decoder.ts';

// Expected as Chromium decodes them, the characters of Hong Kong as Python's `big5hkscs` does.
// biome-ignore format: a table
test.each([
  ['euc-kr', 'syllables beyond KS X 1001',           [0x81, 0x41, 0x8c, 0x63, 0xc6, 0x52], '갂똠힣'],
  ['euc-kr', 'a lead byte before markup',            [0xb0, 0x3c, 0x62, 0x3e],             '\ufffd<b>'],
  ['euc-kr', 'a trail byte that completes nothing',  [0xc9, 0xa1, 0x41],                   '\ufffdA'],
  ['euc-kr', 'a letter that completes nothing',      [0xc7, 0x41],                         '\ufffdA'],
  ['euc-kr', 'bytes that begin no character',        [0x80, 0xff, 0x41],                   '\ufffd\ufffdA'],
  ['euc-kr', 'a lead byte at the end',               [0x41, 0xb0],                         'A\ufffd'],
  ['big5',   'additions of Hong Kong',               [0x9d, 0xef, 0x9d, 0xf7, 0xc9, 0x4e], '嘅咗冇'],
  ['big5',   'one code for a letter and accent',     [0x88, 0x62],                         '\u00ca\u0304'],
  ['big5',   'a character above U+FFFF',             [0x87, 0x69],                         '𨮹'],
  ['shift_jis', 'control characters',                [0x1a, 0x1c, 0x7f],                   '\x1a\x1c\x7f'],
  ['shift_jis', 'a lead byte before markup',         [0x82, 0x3c, 0x62, 0x3e],             '\ufffd<b>'],
  ['euc-jp', 'three bytes',                          [0x8f, 0xb0, 0xa1],                   '丂'],
  ['euc-jp', 'a lead byte before markup',            [0xb0, 0x3c, 0x62, 0x3e],             '\ufffd<b>'],
  ['iso-2022-jp', 'a switch to Japanese and back',   [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42, 0x41], '日A'],
  ['gb18030', 'four bytes',                          [0x95, 0x32, 0x82, 0x36],             '𠀀'],
])('%s is decoded: %s', (encoding, _, bytes, text) => {
  expect(newDecoder(encoding).decode(Uint8Array.from(bytes))).toBe(text);
});

test('a decoder has the standard name of its encoding, whatever label was used', () => {
  expect(['KS_C_5601-1987', 'sjis', 'big5-hkscs', 'latin1'].map((label) => newDecoder(label).encoding)).toEqual([
    'euc-kr',
    'shift_jis',
    'big5',
    'windows-1252',
  ]);
  expect(() => newDecoder('klingon')).toThrow(RangeError);
});

const KINDS = 'big5 euc-jp euc-kr gb18030 gbk iso-2022-jp shift_jis utf-16le utf-16be windows-1251 utf-8'.split(' ');
test.each(KINDS)('%s decodes the same in pieces of any size, and leaves nothing over for the next text', (encoding) => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 5 }), (text, length) => {
      const decoder = newDecoder(encoding);
      let read = '';
      for (let at = 0; at < text.length; at += length)
        read += decoder.decode(text.subarray(at, at + length), { stream: true });
      expect(read + decoder.decode()).toBe(newDecoder(encoding).decode(text));
      const next = Buffer.from('<b>after</b>', encoding === 'utf-16le' ? 'utf16le' : 'latin1');
      expect(decoder.decode(next)).toBe(newDecoder(encoding).decode(next));
    }),
  );
});
