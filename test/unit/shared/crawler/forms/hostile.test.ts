import type { Element } from 'domhandler';
import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { Selection } from '../../../../../shared/crawler/tools/selection.ts';

const COUNT = 1_000;

test('a disabled fieldset with many legends is read a few times, not once for each legend', () => {
  const legends = '<legend><input name=a value=b></legend>'.repeat(COUNT);
  const html = `<form><fieldset disabled>${'<br>'.repeat(COUNT)}${legends}</fieldset></form>`;
  const page = Page.fromHtml(html, { url: 'https://shop.example/' });
  const fieldset = Selection.nodeOf(page.first('fieldset') as Selection) as Element;
  let looks = 0;
  fieldset.children = new Proxy(fieldset.children, {
    get: (children, key) => {
      looks += 1;
      return Reflect.get(children, key);
    },
  });
  expect(page.form('form')?.url).toBe('https://shop.example/?a=b');
  expect(looks / COUNT).toBeLessThan(50);
});

test.each([
  [
    'any number of chosen options of a list',
    (count: number) => `<select multiple name=a>${'<option selected>b'.repeat(count)}</select>`,
  ],
  ['any number of values of a field', () => '<input name=a>'],
])('a form can send %s', (_, controls) => {
  const count = 130_000;
  const page = Page.fromHtml(`<form method=post>${controls(count)}</form>`, { url: 'https://shop.example/' });
  const fields = page.first('input') === undefined ? {} : { a: Array<string>(count).fill('b') };
  expect(page.form('form', fields)?.body).toHaveLength('a=b&'.length * count - 1);
});
