import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'cheerio';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { mutate } from '../../../../support/pages/mutation.ts';
import { generatePage } from '../../../../support/pages/page-generator.ts';
import { SeededRandom } from '../../../../support/seeded-random.ts';

const SAVED = join(import.meta.dirname, '../../../../support/pages/saved');
const SEED = 5;
const SELECTORS = [
  ...[
    'title',
    'p',
    'a[href]',
    'div p',
    'ul > li',
    'li:nth-child(2n+1)',
    'p:nth-last-child(2)',
    'td:nth-of-type(2)',
    'h1 + p',
    'tr',
  ],
  ...[
    'li:first-child',
    'p ~ p',
    'div:has(a)',
    'a:not([rel])',
    '[class*=a]',
    'b:nth-last-of-type(-n+2)',
    'i:last-child',
    'select *',
  ],
];

const bare = (text: string): string => text.replaceAll(/\s+/g, '');

/** Compares with cheerio, which has its own parse5 and selector engine. Text is compared without white space, which cheerio doesn't fold. */
function expectSame(html: string, name: string): void {
  const page = Page.fromHtml(html);
  const $ = load(html, { scriptingEnabled: false });
  // In SVG these can hold elements, whose text is not for readers, but cheerio returns it.
  if ($('script *, style *').length > 0) return;
  $('template, script, style').empty();
  for (const css of SELECTORS) {
    const ours = page.all(css).map((element) => [element.name.toLowerCase(), element.attr('href'), bare(element.text)]);
    const theirs = $(css)
      .map((_, element) => [
        [$(element).prop('tagName')?.toLowerCase(), $(element).attr('href'), bare($(element).text())],
      ])
      .get();
    const shown = `${css} in ${name}`;
    expect(
      ours.filter(([tag]) => !/^(?:script|style)$/.test(tag ?? '')),
      shown,
    ).toEqual(theirs.filter(([tag]) => !/^(?:script|style)$/.test(tag ?? '')));
    expect(page.attr(css, 'href'), shown).toBe($(css).attr('href'));
  }
}

test('saved, generated and broken pages have the elements, texts and attributes that cheerio finds', {
  timeout: 120_000,
}, () => {
  const saved = readdirSync(SAVED).filter((name) => name.endsWith('.html'));
  const pages = [
    ...saved.map((name) => ({ name, html: readFileSync(join(SAVED, name), 'utf8') })),
    ...Array.from({ length: 20 }, (_, n) => ({ name: `page ${n}`, html: generatePage(SEED * 1_000 + n) })),
  ];
  const random = new SeededRandom(SEED);
  /** cheerio knows no declared shadow roots, whose content is part of our pages. */
  const known = (html: string): string => html.replaceAll(/shadowrootmode/gi, 'x-mode');
  for (const { name, html } of pages) {
    expectSame(known(html), name);
    for (let at = 0; at < 3; at++) expectSame(known(mutate(html, random)), `mutation ${at} of ${name}`);
  }
});

const NAMES = 'a b i p div span li ul table tr td th tbody h1 form button select option svg template br'.split(' ');
const markup = fc
  .array(
    fc.oneof(
      ...['<#>', '<# href=/1>', '</#>', 't '].map((form) =>
        fc.constantFrom(...NAMES).map((name) => form.replace('#', name)),
      ),
    ),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));

test('any mixture of tags has the elements, texts and attributes that cheerio finds', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(markup, (html) => expectSame(html, html)),
    { numRuns: 500, seed: SEED },
  );
});
