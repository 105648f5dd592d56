import { expect, test } from 'vitest';
import { type FormFields, submissionOf } from '../../../../../shared/crawler/forms/form.ts';
import { Page } from '../../../../../shared/crawler/page.ts';

const FORM = `<form method=post enctype="Multipart/Form-Data" action=/up>
<input name=q value="lämp"><textarea name="a&quot;b">x\ny</textarea><input type=file name=list><button name=go value=1>Go</button></form>`;

const submitted = (html: string, fields: FormFields = {}) =>
  submissionOf(Page.fromHtml(html, { url: 'https://a.test/b' }), fields);

/** The fields of a request, as a server reads them. */
async function read(html: string, fields: FormFields = {}): Promise<unknown> {
  const { body, headers } = submitted(html, fields) ?? {};
  const form = await new Response(String(body), { headers: { ...headers } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.name, value.type, await value.text()],
    ),
  );
}

test('a multipart form is sent in parts, with an empty one for a file that was not chosen', async () => {
  expect(await read(FORM, { more: [1, 'two'] })).toEqual([
    ['q', 'lämp'],
    ['a"b', 'x\r\ny'],
    ['list', '', 'application/octet-stream', ''],
    ['go', '1'],
    ['more', '1'],
    ['more', 'two'],
  ]);
  expect(submitted(FORM)).toMatchObject({ url: 'https://a.test/up', method: 'POST' });
});

test('a file is sent with its name, its type and its unchanged content', async () => {
  const list = { filename: 'skus "1".csv', text: 'a\nb\n--x', type: 'text/csv' };
  expect(await read(FORM, { list, q: [], go: [], 'a"b': [] })).toEqual([['list', list.filename, list.type, list.text]]);
  expect(
    await read(FORM, {
      list: [
        { filename: 'a', text: '1' },
        { filename: 'b', text: '2' },
      ],
      q: [],
      go: [],
      'a"b': [],
    }),
  ).toEqual([
    ['list', 'a', 'application/octet-stream', '1'],
    ['list', 'b', 'application/octet-stream', '2'],
  ]);
});

test('the same fields give the same request, and other fields another boundary', () => {
  expect(submitted(FORM)).toEqual(submitted(FORM));
  expect(submitted(FORM, { q: 'b' })?.headers).not.toEqual(submitted(FORM)?.headers);
});

const TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
test('a button overrides its form, and a form in another encoding is sent as multipart only if it is ASCII', async () => {
  const own = FORM.replace('name=go', 'name=go formenctype=application/x-www-form-urlencoded');
  expect(submitted(own, { q: 'a' })).toMatchObject({ body: 'q=a&a%22b=x%0D%0Ay&go=1', headers: TYPE });
  const other = FORM.replace('method=post', 'method=post accept-charset=iso-8859-1');
  expect(submitted(other)).toMatchObject({ body: 'q=l%E4mp&a%22b=x%0D%0Ay&go=1', headers: TYPE });
  expect(await read(other, { q: 'a' })).toContainEqual(['q', 'a']);
});

test('a file is refused where it can not be sent, and so is anything that is not a file', () => {
  const plain = FORM.replace(/enctype="[^"]+"/, '');
  expect(() => submitted(plain, { list: { filename: 'a', text: 'b' } })).toThrow(
    "field list of a form: expected a text, got a file: the form doesn't send files (multipart/form-data)",
  );
  const wrong = { filename: 'a', text: 'b', type: 'a\r\nb' };
  expect(() => submitted(FORM, { list: wrong })).toThrow('field list of a form: expected a text, a number, a file');
});
