import { expect, test } from 'vitest';
import { SitemapParser } from '../../../../../shared/task/sitemap/sitemap.ts';

const OWN = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const IMAGE = 'http://www.google.com/schemas/sitemap-image/1.1';
const ATOM = 'http://www.w3.org/2005/Atom';
const A = 'https://example.com/a';
const B = 'https://example.com/b';

function locsOf(text: string, step = text.length): string[] {
  const parser = new SitemapParser();
  const entries = [];
  for (let at = 0; at < text.length; at += step) entries.push(...parser.write(text.slice(at, at + step)));
  entries.push(...parser.end());
  return entries.map(({ loc }) => loc);
}

// biome-ignore format: a table
test.each<[string, string, string[]]>([
  ['a prefix on everything',              `<s:urlset xmlns:s="${OWN}"><s:url><s:loc>${A}</s:loc></s:url></s:urlset>`,                          [A]],
  ['a prefix on all but loc',             `<s:urlset xmlns:s="${OWN}"><s:url><loc>${A}</loc></s:url></s:urlset>`,                              [A]],
  ['a prefix on the root alone',          `<s:urlset xmlns:s="${OWN}"><url><loc>${A}</loc></url></s:urlset>`,                                  [A]],
  ['a prefix on loc alone',               `<urlset xmlns="${OWN}" xmlns:s="${OWN}"><url><s:loc>${A}</s:loc></url></urlset>`,                   [A]],
  ['another prefix on loc',               `<p:urlset xmlns:p='${OWN}' xmlns:q='${OWN}'><p:url><q:loc>${A}</q:loc></p:url></p:urlset>`,         [A]],
  ['a prefix declared on its url',        `<urlset><url xmlns:s="${OWN}"><s:loc>${A}</s:loc></url></urlset>`,                                  [A]],
  ['a prefix declared on loc',            `<urlset><url><s:loc xmlns:s="${OWN}">${A}</s:loc></url></urlset>`,                                  [A]],
  ['the namespace of an older version',   `<urlset xmlns:s="http://www.google.com/schemas/sitemap/0.84"><url><s:loc>${A}</s:loc></url></urlset>`, [A]],
  ['a prefix on an index alone',          `<s:sitemapindex xmlns:s="${OWN}"><s:sitemap><loc>${A}</loc></s:sitemap></s:sitemapindex>`,          [A]],
  ['two locs of the two kinds',           `<s:urlset xmlns:s="${OWN}"><s:url><loc>${A}</loc><s:loc>${B}</s:loc></s:url></s:urlset>`,           [A, B]],
  ['the loc of an extension, before',     `<urlset xmlns:image="${IMAGE}"><url><image:loc>${B}</image:loc><loc>${A}</loc></url></urlset>`,     [A]],
  ['the loc of an extension, after',      `<urlset xmlns:image="${IMAGE}"><url><loc>${A}</loc><image:loc>${B}</image:loc></url></urlset>`,     [A]],
  ['the loc of an extension, alone',      `<urlset xmlns:image="${IMAGE}"><url><image:loc>${B}</image:loc></url></urlset>`,                    []],
  ['an undeclared prefix',                `<urlset><url><image:loc>${B}</image:loc></url></urlset>`,                                           []],
  ['a prefix on an Atom entry alone',     `<a:feed xmlns:a="${ATOM}"><a:entry><link href="${A}"/></a:entry></a:feed>`,                         [A]],
  ['a prefix on an RSS 1.0 item alone',   `<rdf:RDF xmlns:r="http://purl.org/rss/1.0/"><r:item><link>${A}</link></r:item></rdf:RDF>`,          [A]],
  ['only a link of Atom',                 `<rss xmlns:a="${ATOM}"><item><a:link href="${A}"/></item></rss>`,                                   [A]],
  ['a link of Atom before its own',       `<rss xmlns:a="${ATOM}"><item><a:link href="${B}"/><link>${A}</link></item></rss>`,                  [A]],
  ['a link of Atom to the feed itself',   `<rss xmlns:a="${ATOM}"><item><a:link rel="self" href="${B}"/></item></rss>`,                        []],
  ['a link of Atom, then one without',    `<rss xmlns:a="${ATOM}"><item><a:link href="${A}"/></item><item><title>t</title></item></rss>`,      [A]],
  ['a relative link of Atom',             `<rss xmlns:a="${ATOM}" xml:base="${A}/"><item><a:link href="x"/></item></rss>`,                     [`${A}/x`]],
  ['a link of another vocabulary',        `<rss xmlns:m="http://search.yahoo.com/mrss/"><item><m:link href="${B}"/></item></rss>`,             []],
  ['a relation that is written in full',  `<feed><entry><link rel="http://www.iana.org/assignments/relation/alternate" href="${A}"/></entry></feed>`, [A]],
])('namespaces decide whose a location is: %s', (_, text, locs) => {
  expect(locsOf(text)).toEqual(locs);
  for (const step of [1, 7]) expect(locsOf(text, step)).toEqual(locs);
});

test('a document that declares thousands of prefixes is read all the same', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `xmlns:p${index}="${OWN}"`).join(' ');
  const text = `<urlset ${many}><url><p0:loc>${A}</p0:loc></url><url><p4999:loc>${B}</p4999:loc></url></urlset>`;
  expect(locsOf(text)).toEqual([A]);
});
