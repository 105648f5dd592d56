import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { leapOf } from '../../../../support/hostile/linear-time.ts';

const PROSE = 'Words, and more words, that people read.';

test.each([
  ['nested blocks', '<div>'],
  ['nested blocks with text', `<div>${PROSE}`],
  ['nested sections', '<section class=section><h2>x</h2>'],
  ['paragraphs', `<p>${PROSE}</p>`],
  ['links', '<a href=/x>a link</a> '],
  ['nested links', '<a href=/x><b>'],
  ['cards', `<div><h2><a href=/x>x</a></h2><p>${PROSE}</p></div>`],
  ['headings', '<h1>x</h1>'],
  ['nested comments', `<div class="comment reply">${PROSE}`],
  ['code', '<pre>x\n</pre>'],
  ['white space', ' \n'],
  ['classes', 'aB-'],
  ['heads', '<meta name=author content=x><title>x | x - </title>'],
])('reading the article of a page of %s takes time proportional to its length', { timeout: 60_000 }, (kind, pump) => {
  const run = (html: string): void => void Page.fromHtml(html).article?.text;
  const pageOf = (length: number): string => {
    const pumped = pump.repeat(Math.ceil(length / pump.length));
    return kind === 'classes'
      ? `<p>${PROSE}${PROSE}<div class="${pumped}" id="${pumped}">`
      : `<p>${PROSE}${PROSE}</p>${pumped}`;
  };
  expect(leapOf(run, pageOf, 2 ** 17)).toBeUndefined();
});
