import { expect, test } from 'vitest';
import { submissionOf } from '../../../../../shared/crawler/around/login-form.ts';
import { Page } from '../../../../../shared/crawler/page.ts';

const URL = 'https://shop.example/account/login?next=1';

/** What submitting a form with these fields sends: method, URL and fields. */
function sent(html: string, fields: Readonly<Record<string, string>> = {}, form?: string): string {
  const { method, url, fields: params } = submissionOf(Page.fromHtml(html, { url: URL }), fields, form);
  return `${method} ${url.replace('https://shop.example', '')} ${params}`;
}

const HERE = 'POST /account/login?next=1';
const POST = (inner: string): string => `<form method=post>${inner}</form>`;

// biome-ignore format: a table, most of it the cases that Scrapy's FormRequest.from_response is tested with
test.each<[string, string, Record<string, string>, string]>([
  ['hidden fields are kept',          POST('<input type=hidden name=csrf value="a&b"><input name=user>'),       { user: 'me' },   `${HERE} csrf=a%26b&user=me`],
  ['a given field wins',              POST('<input name=user value=you>'),                                      { user: 'me' },   `${HERE} user=me`],
  ['a given field is added',          POST('<input name=a value=1>'),                                           { b: '2' },       `${HERE} a=1&b=2`],
  ['the first button is pressed',     POST('<input type=submit name=x value=1><input type=submit name=y value=2>'), {},           `${HERE} x=1`],
  ['a button without a type is one',  POST('<button name=x value=1>In</button>'),                               {},               `${HERE} x=1`],
  ['another button is chosen',        POST('<button name=x value=1></button><button name=y value=2></button>'), { y: '2' },       `${HERE} x=1&y=2`],
  ['buttons that send nothing',       POST('<button type=button name=x value=1></button><input type=reset name=y><input type=file name=z>'), {}, `${HERE} `],
  ['unticked boxes',                  POST('<input type=checkbox name=a><input type=radio name=b value=1>'),    {},               `${HERE} `],
  ['ticked boxes',                    POST('<input type=checkbox name=a checked><input type=radio name=b value=1><input type=radio name=b value=2 checked>'), {}, `${HERE} a=on&b=2`],
  ['a selection',                     POST('<select name=a><option value=1>x<option value=2 selected>y</select>'), {},            `${HERE} a=2`],
  ['a selection without a choice',    POST('<select name=a><option>x<option>y</select>'),                       {},               `${HERE} a=x`],
  ['several choices',                 POST('<select name=a multiple><option selected>x<option selected>y<option>z</select>'), {}, `${HERE} a=x&a=y`],
  ['a text area',                     POST('<textarea name=a>some text</textarea>'),                            {},               `${HERE} a=some+text`],
  ['disabled fields are not sent',    POST('<input name=a value=1 disabled><input value=2>'),                   {},               `${HERE} `],
  ['an action',                       '<form method=POST action="../in?x=1#top"><input name=a value=1></form>', {},               'POST /in?x=1 a=1'],
  ['a GET',                           '<form action=/in?x=1><input name=a value=1></form>',                     {},               'GET /in?a=1 a=1'],
  ['the form with a password',        '<form action=/search><input name=q></form><form method=post action=/in><input type=PASSWORD name=p></form>', { p: '1' }, 'POST /in p=1'],
  ['a name that objects have',        POST('<input name=constructor value=1>'),                                 {},               `${HERE} constructor=1`],
])('%s', (_, html, fields, expected) => {
  expect(sent(html, fields)).toBe(expected);
});

test('a form is named by a selector', () => {
  const forms = '<form id=a action=/a></form><form id=b method=post action=/b></form>';
  expect(sent(forms, {}, '#b')).toBe('POST /b ');
  expect(() => sent(forms, {}, '#c')).toThrow('there is no form #c at https://shop.example/account/login?next=1');
  expect(() => sent('<p>')).toThrow('there is no form at https://shop.example/account/login?next=1');
});
