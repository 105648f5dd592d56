import type { Element } from 'domhandler';
import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { Selection } from '../../../../../shared/crawler/tools/selection.ts';

const COUNT = 1_000;

test('of a disabled fieldset with many legends, each part is looked at a few times, not once for each legend', () => {
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
