import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { leapOf } from '../../../../support/hostile/linear-time.ts';

const PROSE = 'Words, and more words, that people read.';

test.each([
  ['blocks in each other', '<div>'],
  ['blocks with text in each other', `<div>${PROSE}`],
  ['sections in each other', '<section class=section><h2>x</h2>'],
  ['paragraphs', `<p>${PROSE}</p>`],
  ['links', '<a href=/x>a link</a> '],
  ['links in each other', '<a href=/x><b>'],
  ['cards', `<div><h2><a href=/x>x</a></h2><p>${PROSE}</p></div>`],
  ['headings', '<h1>x</h1>'],
  ['comments in each other', `<div class="comment reply">${PROSE}`],
  ['code', '<pre>x\n</pre>'],
  ['white space', ' \n'],
  ['classes', 'aB-'],
  ['heads', '<meta name=author content=x><title>x | x - </title>'],
])('an article takes time in proportion to a page of %s', { timeout: 60_000 }, (kind, pump) => {
  const run = (html: string): void => void Page.fromHtml(html).article?.text;
  const pageOf = (length: number): string => {
    const pumped = pump.repeat(Math.ceil(length / pump.length));
    return kind === 'classes'
      ? `<p>${PROSE}${PROSE}<div class="${pumped}" id="${pumped}">`
      : `<p>${PROSE}${PROSE}</p>${pumped}`;
  };
  expect(leapOf(run, pageOf, 2 ** 17)).toBeUndefined();
});
