import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SitemapParser } from '../../../../../shared/task/sitemap/sitemap.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const DOCUMENTS = [
  `<?xml version="1.0"?><urlset><url><loc>https://example.com/a?b&amp;c</loc><lastmod>2024</lastmod></url><url><loc><![CDATA[x]]></loc></url></urlset>`,
  '<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap><!-- x --></sitemapindex>',
  '<rss version="2.0"><channel><item><link>https://example.com/</link><guid isPermaLink="false">1</guid></item></channel></rss>',
  `<feed><entry><link rel='alternate' href="https://example.com/&#x61;"/><updated>2024</updated></entry></feed>`,
  '<!DOCTYPE urlset [<!ENTITY a "b">]><urlset><url><loc>&a;&#0;&#xFFFFFFF;</loc></url></urlset>',
  '# list\nhttps://example.com/a\r\nhttps://example.com/b\n',
];
const BYTES = [...'<>/!?-[]&;"\'=: \n#', '<![CDATA[', '<!--', '</', '&#', '\u0000', '\ufffd', '\ud800'];

/** A document with some characters replaced, dropped or inserted, and the length of the pieces it is cut into. */
const mutated = fc
  .tuple(
    fc.constantFrom(...DOCUMENTS),
    fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...BYTES)), { maxLength: 12 }),
    fc.integer({ min: 1, max: 300 }),
  )
  .map(([document, mutations, step]) => {
    let text = document;
    for (const [where, dropped, put] of mutations) {
      const at = where % (text.length + 1);
      text = text.slice(0, at) + put + text.slice(at + dropped);
    }
    return { text, step };
  });

function read(text: string, step: number) {
  const parser = new SitemapParser();
  const entries = [];
  for (let at = 0; at < text.length; at += step) entries.push(...parser.write(text.slice(at, at + step)));
  entries.push(...parser.end());
  return { entries, kind: parser.kind, truncated: parser.truncated };
}

test('a damaged sitemap never throws, and reads the same in pieces of any size', () => {
  fc.assert(
    fc.property(mutated, ({ text, step }) => {
      const whole = read(text, text.length + 1);
      for (const { loc } of whole.entries) expect(loc).not.toBe('');
      expect(read(text, step)).toEqual(whole);
    }),
    { numRuns: 3_000 },
  );
});

test('reading time grows with the length of a document, not with its square', () => {
  const hostile = [
    '<a>'.repeat(200_000) + '</b>'.repeat(200_000),
    `<urlset><!--${'-'.repeat(2_000_000)}`,
    `<urlset><url ${'a=1 '.repeat(400_000)}>`,
    `<urlset><url><loc>${'&x;'.repeat(400_000)}</loc></url></urlset>`,
    `<urlset>${'<'.repeat(1_000_000)}`,
    `${'# '.repeat(1_000_000)}\n`,
    '\n'.repeat(2_000_000),
  ];
  expectCpuBelow(10, () => {
    for (const text of hostile) read(text, 65_536);
  });
});
