import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { expect, test } from 'vitest';
import { sourceOf, versionsOf } from './package-files.ts';

const FILE = 'dist/Tokenizer.js';
const CHECK = 'see what shared/task/sitemap/xml-elements.ts makes of it';

test('htmlparser2 is pinned to the version whose inside is known', () => {
  const { asked, installed } = versionsOf('htmlparser2');
  expect(asked, 'xml-elements.ts stands on its tokenizer: `htmlparser2` needs an exact version').toBe(installed);
});

test('its tokenizer calls what XmlElements answers, and nothing else', () => {
  const called = new Set(
    sourceOf('htmlparser2', FILE)
      .matchAll(/this\.cbs\.(on\w+)/g)
      .map(([, name]) => name),
  );
  expect([...called].toSorted(), `${FILE} calls other functions: ${CHECK}`).toEqual([
    'onattribdata',
    'onattribend',
    'onattribentity',
    'onattribname',
    'oncdata',
    'onclosetag',
    'oncomment',
    'ondeclaration',
    'onend',
    'onopentagend',
    'onopentagname',
    'onprocessinginstruction',
    'onselfclosingtag',
    'ontext',
    'ontextentity',
  ]);
});

/** Writes pieces to a tokenizer, and notes each call with its numbers. */
function tokenized(...pieces: string[]): { calls: unknown[][]; inside: { buffer: string; offset: number } } {
  const calls: unknown[][] = [];
  const note = new Proxy({} as TokenizerCallbacks, {
    get:
      (_, name) =>
      (...numbers: number[]) =>
        calls.push([name, ...numbers]),
  });
  const tokenizer = new Tokenizer({ xmlMode: true }, note);
  for (const piece of pieces) tokenizer.write(piece);
  return { calls, inside: tokenizer as unknown as { buffer: string; offset: number } };
}

test('it counts from the beginning of the document, whatever pieces that comes in', () => {
  const whole = tokenized('<a b="c">text</a>');
  expect(whole.calls, `its calls have changed: ${CHECK}`).toEqual([
    ['onopentagname', 1, 2],
    ['onattribname', 3, 4],
    ['onattribdata', 6, 7],
    ['onattribend', expect.any(Number), 8],
    ['onopentagend', 8],
    ['ontext', 9, 13],
    ['onclosetag', 15, 16],
  ]);
  expect(tokenized('<a b="c">', 'text</a>').calls, `it counts anew in each piece: ${CHECK}`).toEqual(whole.calls);
});

test('CDATA ends a fixed number of characters before the position that it tells', () => {
  expect(tokenized('<![CDATA[x]]>').calls, `the offset of a CDATA section has changed: ${CHECK}`).toEqual([
    ['oncdata', 9, 12, 2],
  ]);
});

test('it keeps one piece, so that an endless document takes no memory', () => {
  const { inside } = tokenized('<!-- one', ' two', ' three');
  expect(
    inside,
    `its private \`buffer\` and \`offset\` are others: does it still keep one piece? ${CHECK}`,
  ).toMatchObject({
    buffer: ' three',
    offset: 12,
  });
});
