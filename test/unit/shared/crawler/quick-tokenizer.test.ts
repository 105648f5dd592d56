import fc from 'fast-check';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { expect, test } from 'vitest';
import { QuickTokenizer } from '../../../../shared/crawler/quick-tokenizer.ts';

const PIECES = [
  ...['<', '>', '</', '/>', '"', "'", '=', ' ', '&', '-', '!', '&amp;', 'x', 'é', '\u{1f600}', '\n'],
  ...[
    '<a href="',
    "<a href='/b'",
    '<a href=c',
    '<br>',
    '<p class="q">',
    '</p>',
    '<!--',
    '-->',
    '--!>',
    '<!doctype html>',
  ],
  ...['<script>', '</script>', '<style>', '</style', '<title>', '</title>', '<textarea>', '<![CDATA[', ']]>', '<?xml'],
];

/** All that a tokenizer says of a text that comes in pieces, in order. */
function tokensOf(Kind: typeof Tokenizer, texts: readonly string[]): unknown[] {
  const tokens: unknown[] = [];
  const callbacks = new Proxy({} as TokenizerCallbacks, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        tokens.push([name, ...args]),
  });
  const tokenizer = new Kind({ decodeEntities: false }, callbacks);
  for (const text of texts) tokenizer.write(text);
  tokenizer.end();
  return tokens;
}

test('it finds the same tokens in any text, whole or in pieces', () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (texts) => {
      expect(tokensOf(QuickTokenizer, texts)).toEqual(tokensOf(Tokenizer, texts));
    }),
    { numRuns: 2_000 },
  );
});

test('what it replaces is still there to be replaced', () => {
  expect(Object.hasOwn(Tokenizer.prototype, 'fastForwardTo')).toBe(true);
});
