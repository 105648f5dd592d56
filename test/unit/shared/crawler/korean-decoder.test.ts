import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KoreanDecoder } from '../../../../shared/crawler/korean-decoder.ts';

test('every pair of bytes is decoded as the Encoding standard has it', () => {
  const decoder = new KoreanDecoder();
  const all: string[] = [];
  for (let first = 0; first < 256; first++)
    for (let second = 0; second < 256; second++) all.push(decoder.decode(Uint8Array.of(first, second)));
  // By `@exodus/bytes`, which follows the standard.
  expect(hash('sha256', all.join('\n'))).toBe('27488a4d4668752a43a94486c9bdf576c8ff1b3b12245b3b8042fb0a27746afc');
});

// biome-ignore format: a table
test.each([
  ['a syllable beyond KS X 1001',          [0x8c, 0x63],              '똠'],
  ['a lead byte before markup',            [0xb0, 0x3c, 0x62, 0x3e],  '\ufffd<b>'],
  ['a trail byte of no character',         [0xc9, 0xa1, 0x41],        '\ufffdA'],
  ['a letter where there is no character', [0xc7, 0x41],              '\ufffdA'],
  ['a byte that is neither',               [0x80, 0xff, 0x41],        '\ufffd\ufffdA'],
  ['a lead byte at the end',               [0x41, 0xb0],              'A\ufffd'],
])('%s', (_, bytes, text) => {
  expect(new KoreanDecoder().decode(Uint8Array.from(bytes))).toBe(text);
});

test('a text is the same however it comes, and nothing of it is left for the next', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 5 }), (text, length) => {
      const decoder = new KoreanDecoder();
      let read = '';
      for (let at = 0; at < text.length; at += length)
        read += decoder.decode(text.subarray(at, at + length), { stream: true });
      expect(read + decoder.decode()).toBe(new KoreanDecoder().decode(text));
      expect(decoder.decode(Buffer.from('after'))).toBe('after');
    }),
  );
});
