import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { collectGarbage } from '../../../../support/hostile/garbage.ts';

const LENGTH = 500_000;

test('the names of its elements do not keep a page in memory', () => {
  read(0);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let page = 1; page <= 20; page++) read(page);
  collectGarbage();
  expect((process.memoryUsage().heapUsed - before) / LENGTH, 'pages').toBeLessThan(8);
});

/** A page with an element that no other has, and tools that look at all of its elements. */
function read(number: number): void {
  const name = `an-element-of-page-${number}`;
  const page = Page.fromHtml(`<${name}><p>Hello.</p></${name}><p>${'x'.repeat(LENGTH)}`);
  void [page.get('body'), page.all(name)[0]?.text, page.markdown(), page.article, page.microdata()];
}
