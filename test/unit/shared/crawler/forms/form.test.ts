import { expect, test } from 'vitest';
import { type FormFields, submissionOf } from '../../../../../shared/crawler/forms/form.ts';
import { Page } from '../../../../../shared/crawler/page.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const URL = 'https://shop.example/account/login?next=1';

/** Returns what submitting a form with these fields sends: method, URL and fields. */
function sent(html: string, fields: FormFields = {}, form?: string): string {
  const request = submissionOf(Page.fromHtml(html, { url: URL }), fields, form);
  if (request === undefined) return 'no form';
  const { method = 'GET', url, body = url.split('?')[1] } = request;
  return `${method} ${url.replace('https://shop.example', '')} ${body}`;
}

const HERE = 'POST /account/login?next=1';
const POST = (inner: string): string => `<form method=post>${inner}</form>`;

// biome-ignore format: a table, most of it the cases that Scrapy's FormRequest.from_response is tested with
test.each<[string, string, FormFields, string]>([
  ['hidden fields are kept',                    POST('<input type=hidden name=csrf value="a&b"><input name=user>'),       { user: 'me' },   `${HERE} csrf=a%26b&user=me`],
  ['a given field wins',                        POST('<input name=user value=you>'),                                      { user: 'me' },   `${HERE} user=me`],
  ['a given field is added',                    POST('<input name=a value=1>'),                                           { b: '2' },       `${HERE} a=1&b=2`],
  ['the first button is pressed',               POST('<input type=submit name=x value=1><input type=submit name=y value=2>'), {},           `${HERE} x=1`],
  ['a button without a type submits',           POST('<button name=x value=1>In</button>'),                               {},               `${HERE} x=1`],
  ['another button is chosen',                  POST('<button name=x value=1></button><button name=y value=2></button>'), { y: '2' },       `${HERE} y=2`],
  ['plain and reset buttons send nothing',      POST('<button type=button name=x value=1></button><input type=reset name=y><input type=file name=z>'), {}, `${HERE} `],
  ['unticked boxes are not sent',               POST('<input type=checkbox name=a><input type=radio name=b value=1>'),    {},               `${HERE} `],
  ['ticked boxes are sent',                     POST('<input type=checkbox name=a checked><input type=radio name=b value=1><input type=radio name=b value=2 checked>'), {}, `${HERE} a=on&b=2`],
  ['the selected option is sent',               POST('<select name=a><option value=1>x<option value=2 selected>y</select>'), {},            `${HERE} a=2`],
  ['the first option is sent by default',       POST('<select name=a><option>x<option>y</select>'),                       {},               `${HERE} a=x`],
  ['all selected options are sent',             POST('<select name=a multiple><option selected>x<option selected>y<option>z</select>'), {}, `${HERE} a=x&a=y`],
  ['a text area is sent',                       POST('<textarea name=a>some text</textarea>'),                            {},               `${HERE} a=some+text`],
  ['disabled fields are not sent',              POST('<input name=a value=1 disabled><input value=2>'),                   {},               `${HERE} `],
  ['a form is sent to its action',              '<form method=POST action="../in?x=1#top"><input name=a value=1></form>', {},               'POST /in?x=1 a=1'],
  ['a GET replaces the query',                  '<form action=/in?x=1><input name=a value=1></form>',                     {},               'GET /in?a=1 a=1'],
  ['the form with a password is chosen',        '<form action=/search><input name=q></form><form method=post action=/in><input type=PASSWORD name=p></form>', { p: '1' }, 'POST /in p=1'],
  ['the first button is pressed, unnamed',      POST('<button>In</button><button name=forgot value=1>Forgot?</button>'),  {},               `${HERE} `],
  ['a value picks among buttons of a name',     POST('<button name=do value=in></button><button name=do value=join formaction=/join></button>'), { do: 'join' }, 'POST /join do=join'],
  ['a button overrides its form',               '<form action=/a method=post><button formaction=/b formmethod=get name=x></button></form>', {},  'GET /b?x= x='],
  ['an image button sends coordinates',         POST('<input type=image name=go><input type=image name=no>'),             {},               `${HERE} go.x=0&go.y=0`],
  ['a control outside can name its form',       '<input name=a value=1 form=f><form id=f method=post><input name=b value=2></form><button form=f name=c value=3>', {}, `${HERE} a=1&b=2&c=3`],
  ['a control naming another form is not sent', '<form id=f method=post><input name=a value=1 form=g></form><form id=g></form>', {},               `${HERE} `],
  ['a form in a table keeps its controls',      '<table><form method=post><tr><td><input name=a value=1></td></tr><tr><td><input type=password name=p></td></tr></form></table><input name=b>', { p: '2' }, `${HERE} a=1&p=2`],
  ['a form closed early keeps its controls',    '<div><form method=post><input name=a value=1></div><input name=t value=3><input type=password name=p></form><input name=b>', { p: '2' }, `${HERE} a=1&t=3&p=2`],
  ['a disabled fieldset sends its legend',      POST('<fieldset disabled><legend><input name=a value=1></legend><legend><input name=b></legend><p><input name=c></p></fieldset>'), {}, `${HERE} a=1`],
  ['disabled options are not sent',             POST('<select name=a><option disabled>x<option>y</select><select name=b><option selected disabled>z</select><select name=c><optgroup disabled><option>u</optgroup></select>'), {}, `${HERE} a=y`],
  ['a list box without a choice is not sent',   POST('<select name=a size=2><option>x<option>y</select>'),                {},               `${HERE} `],
  ['the last ticked radio button is sent',      POST('<input type=radio name=b value=1 checked><input type=radio name=b value=2 checked>'), {}, `${HERE} b=2`],
  ['lines of a text area end in CR LF',         POST('<textarea name=a>\n x\n  y</textarea>'),                            {},               `${HERE} a=+x%0D%0A++y`],
  ['an action is relative to the base',         '<base href=/deep/er/><form method=post action=in></form>',               {},               'POST /deep/er/in '],
  ['no action means the page, not the base',    '<base href=/deep/er/><form method=post></form>',                         {},               `${HERE} `],
  ['a GET without fields clears the query',     '<form action=/in?x=1></form>',                                           {},               'GET /in? '],
  ['a field can be given several values',       POST('<input type=checkbox name=a value=1 checked><input name=b><input type=checkbox name=a value=2>'), { a: ['2', 3], c: [4, 5] }, `${HERE} a=2&a=3&b=&c=4&c=5`],
  ['an empty list unticks a box',               POST('<input type=checkbox name=a value=1 checked><input name=b>'),       { a: [], b: 0 },  `${HERE} b=0`],
  ['an empty list presses no button',           POST('<button name=x value=1></button><button name=y value=2></button>'), { x: [] },        `${HERE} `],
  ['an undefined field keeps its value',        POST('<input name=a value=1>'),                                           { a: undefined }, `${HERE} a=1`],
  ['a field can be named constructor',          POST('<input name=constructor value=1>'),                                 {},               `${HERE} constructor=1`],
])('submitting a form: %s', (_, html, fields, expected) => {
  expect(sent(html, fields)).toBe(expected);
});

// biome-ignore format: a table of what Chromium sends
test.each<[string, string, string]>([
  ['sliders',              '<input type=range name=a><input type=range name=b min=10 max=20><input type=range name=c value=7 max=5>',               'a=50&b=15&c=5'],
  ['steps of sliders',     '<input type=range name=a step=7><input type=range name=b min=0 max=1 step=.1 value=.33><input type=range name=c step=any value=.5>', 'a=49&b=0.3&c=0.5'],
  ['the encoding',         '<input type=hidden name=_charset_ value=x><input type=hidden name=b value=_charset_>',                                  '_charset_=UTF-8&b=_charset_'],
])('untouched controls send what Chromium sends: %s', (_, inner, expected) => {
  expect(sent(POST(inner))).toBe(`${HERE} ${expected}`);
});

test('accept-charset sets the encoding of a form, and an unknown method means GET', () => {
  const form = (attributes: string): string => `<form action=/t ${attributes}><input name=a value="é€"></form>`;
  expect(sent(form('accept-charset="bogus, ISO-8859-1"'))).toBe('GET /t?a=%E9%80 a=%E9%80');
  expect(sent(form('accept-charset=bogus'))).toBe('GET /t?a=%C3%A9%E2%82%AC a=%C3%A9%E2%82%AC');
  expect(sent(form('method=" post "'))).toMatch(/^GET /);
});

test('a selector picks the form', () => {
  const forms = '<form id=a action=/a></form><form id=b method=post action=/b></form>';
  expect(sent(forms, {}, '#b')).toBe('POST /b ');
  expect(sent(forms, {}, '#c')).toBe('no form');
  expect(sent('<p>')).toBe('no form');
});

test('a form of a page in an old encoding is sent in that encoding', () => {
  const html = Buffer.from('<form method=post><input name=user><button name=go value="\xc2\xf5\xee\xe4 1">', 'latin1');
  const page = Page.fromHtml(html, { url: URL, contentType: 'text/html; charset=windows-1251' });
  expect(submissionOf(page, { user: 'Яна €я≠' })?.body).toBe('user=%DF%ED%E0+%88%FF%26%238800%3B&go=%C2%F5%EE%E4+1');
});

test.each([
  [true, 'true'],
  [null, 'null'],
  [{}, '[object Object]'],
  [['a', undefined], 'undefined'],
])('a field can not be filled in with %j', (value, got) => {
  expect(() => sent(POST(''), { tick: value as never })).toThrow(
    `field tick of a form: expected a text, a number, a file ({ filename, text }) or a list of them, got ${got}; [] sends nothing`,
  );
});

test('a form is followed as a plain link, or as a POST with the headers that forgery checks expect', () => {
  const page = Page.fromHtml(
    `<form id=find action="/find?old=1"><input type=hidden name=lang value=de><input name=q></form>
     <form class=pager method=post action=/all/><input type=hidden name=token value="a b"><button name=page value=2></button></form>
     <div class=far><form method=post action=http://other.example/></form></div>`,
    { url: 'https://shop.example/all/?x=1' },
  );
  expect(page.form('#find', { q: 'a lamp' })).toEqual({ url: 'https://shop.example/find?lang=de&q=a+lamp' });
  const type = 'application/x-www-form-urlencoded';
  const headers = { origin: 'https://shop.example', referer: 'https://shop.example/', 'content-type': type };
  const body = 'token=a+b&page=2';
  expect(page.form('form.pager')).toEqual({ url: 'https://shop.example/all/', method: 'POST', body, headers });
  expect(page.form('.far')?.headers).toEqual({ origin: 'https://shop.example', 'content-type': type });
  expect(page.form('form.next')).toBeUndefined();
  expect(() => page.form('form[')).toThrow(/form\[/);
});

test('a page with thousands of forms and of controls that name their form is read once for all of them', () => {
  const controls = Array.from({ length: 5_000 }, (_, at) => `<p id=p${at}><input form=f name=a${at} value=1></p>`);
  const forms = Array.from({ length: 5_000 }, (_, at) => `<form id=f${at}><input name=q value=${at}></form>`);
  const page = Page.fromHtml(`<form id=f></form>${controls.join('')}${forms.join('')}`, { url: URL });
  const all = page.all('form');
  expectCpuBelow(10, () => {
    expect(submissionOf(page, {}, '#f')?.url).toMatch(/a0=1&.*&a4999=1$/);
    for (const at of all.keys()) if (at % 1_000 === 1) expect(page.form(`#f${at}`)?.url).toContain(`?q=${at}`);
  });
});
