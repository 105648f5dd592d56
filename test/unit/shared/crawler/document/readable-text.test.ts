import { expect, test } from 'vitest';
import { DocumentReader, readDocument } from '../../../../../shared/crawler/document/document.ts';
import { readText, TextReader } from '../../../../../shared/crawler/document/readable-text.ts';
import { mutate } from '../../../../support/pages/mutation.ts';
import { generatePage } from '../../../../support/pages/page-generator.ts';
import { SeededRandom } from '../../../../support/seeded-random.ts';

const URL_OF_PAGE = 'http://example.com/';

// biome-ignore format: a table
test.each([
  ['blocks are lines',                    '<h1>Head</h1><p>One <b>bold</b>\n word</p>x<ul><li>a<li>b</ul>',           'Head\nOne bold word\nx\na\nb'],
  ['white space is folded',               ' a \t b&nbsp; c\u2028<b> d </b> <i> e</i>',                              'a b c d e'],
  ['entities are decoded',                '1 &lt; 2 &amp;amp; 3 &copy 4',                                           '1 < 2 &amp; 3 © 4'],
  ['a title is not text',                 '<title>Title</title>text',                                               'text'],
  ['scripts and styles are not text',     'a<script>b</script><style>c</style>d',                                   'ad'],
  ['the content of frames is not text',   'a<iframe>b</iframe><noembed>c</noembed><noframes>d</noframes>e',         'ae'],
  ['noscript and templates are not text', 'a<noscript>b<p>c</p></noscript><template>d<p>e</p></template>f',         'af'],
  ['SVG is not text',                     'a<svg><text>b</text><title>c</title></svg>d',                            'ad'],
  ['a formula is text',                   'a<math><mi>b</mi></math>',                                               'ab'],
  ['a shadow root is text',               '<x-y><template shadowrootmode=open>a</template></x-y>b',                 'ab'],
  ['the content of form fields is text',  '<textarea>a &amp; b</textarea> <select><option>c<option>d</select>',     'a & b\nc\nd'],
  ['details and fieldsets are text',      '<details><summary>Size</summary>S, M</details><fieldset><legend>To</legend>me</fieldset>', 'Size\nS, M\nTo\nme'],
  ['an xmp is text, left undecoded',      '<xmp>a &amp; <b></xmp>',                                                 'a &amp; <b>'],
  ['text after an xmp is decoded',        '<xmp>a</xmp>&amp;',                                                      'a&'],
])('the readable text of a page: %s', (_, html, text) => {
  expect(readText(html)).toBe(text);
});

test('a page gives the same document and text, however many turns the reading takes', () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = new SeededRandom(seed);
    const html = mutate(`${generatePage(seed)}${' &amp;&lt;  x'.repeat(50)}`, random);
    const turn = random.pick([1, 7, 100, 1_000]);
    const [document, text] = [new DocumentReader(html, URL_OF_PAGE, false), new TextReader(html, false)];
    while (!document.read(turn));
    while (!text.read(turn));
    expect(document.document(), `document of seed ${seed}`).toEqual(readDocument(html, URL_OF_PAGE));
    expect(text.text(), `text of seed ${seed}`).toBe(readText(html));
  }
});
