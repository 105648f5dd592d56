import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { leapOf } from '../../../../support/hostile/linear-time.ts';

const bodyOf = (body: string, contentType = 'application/json'): Page => Page.fromHtml(body, { contentType });

test.each([
  [`)]}',\n{"a":1}`, { a: 1 }],
  [`)]}'\n[1]`, [1]],
  ['while(1);{"a":1}', { a: 1 }],
  ['for (;;);{"a":1}', { a: 1 }],
  ['\u{feff}{"a":1}', { a: 1 }],
  ['/**/ cb_1.done({"a":")"});', { a: ')' }],
  ['cb([1])', [1]],
  ['{"a":1}\n{"a":2}\r\n\n{"a":3}\n', [{ a: 1 }, { a: 2 }, { a: 3 }]],
  ['null', null],
  ['{"a":1}\n{"a":', undefined],
  ['cb(1', undefined],
  ['<p>1</p>', undefined],
  ['', undefined],
])('JSON in a body is read after a guard, inside a call and line by line: %j', (body, value) => {
  expect(bodyOf(body).json()).toEqual(value);
});

test('a media type with one value per line gives a list, even for a single line', () => {
  expect(bodyOf('{"a":1}\n', 'application/x-ndjson').json()).toEqual([{ a: 1 }]);
  expect(bodyOf('{"a":1}\n', 'application/jsonl').json('[0].a')).toBe(1);
  expect(bodyOf('', 'application/x-ndjson').json()).toEqual([]);
});

const variable = (script: string): unknown =>
  Page.fromHtml(`<body><script>var first = 1;</script><script>${script}</script>`).variable('window.__STATE__');

test.each([
  ['window.__STATE__ = {"a": [1, -2.5e3, "};"]}; next()', { a: [1, -2500, '};'] }],
  ['window["__STATE__"]=[1]\n(function () {})()', [1]],
  ["var b = 1, __STATE__ = 'it\\'s\\x41\\u{1f600}'", "it'sA😀"],
  [
    'self.__STATE__ = {a: 1, "b-c": 0x10, 1: .5, \'d\': !0, e: void 0, $f: undefined, /* {*/ g: [1,2,],} // x',
    { a: 1, 'b-c': 16, 1: 0.5, d: true, e: null, $f: null, g: [1, 2] },
  ],
  ['__STATE__ = JSON.parse("{\\"a\\":\\"\\\\u00e9\\"}")', { a: 'é' }],
  ["__STATE__ = {a: JSON.parse('[1]')}", { a: [1] }],
  ['__STATE__ = `x\n$1`', 'x\n$1'],
  ['__STATE__ = __STATE__ || {}; __STATE__ = {a: 1}', { a: 1 }],
  ['__STATE__ = {} || a; __STATE__ == 2; __STATE__ => 3; my__STATE__ = 4; __STATE__2 = 5', undefined],
  ['__STATE__ = {a: function () { __STATE__ = 1 }}', 1],
  [`__STATE__ = {a: \`x\${b}\`}`, undefined],
  ['__STATE__ = {a: [1}]', undefined],
  ['__STATE__ = "open', undefined],
  ['__STATE__ = ', undefined],
  ['__STATE__ = {__proto__: {a: 1}}', JSON.parse('{"__proto__": {"a": 1}}')],
])('the value that a script assigns to a variable is read as written: %s', (script, value) => {
  expect(variable(script)).toEqual(value);
});

test('a path leads into the value, and a body can be a script', () => {
  const page = bodyOf('var data = {items: [{id: 7}]};', 'application/javascript');
  expect([page.variable('data', 'items[0].id'), page.variable('data', 'none'), page.variable('none')]).toEqual([
    7,
    undefined,
    undefined,
  ]);
  expect(page.variable('')).toBeUndefined();
});

test.each([
  'x=',
  'x=[',
  'x={a:',
  'x=[/*',
  'x="',
  'x="\\',
  'x=[`',
  'x=`$',
  'x=[//',
  'x=1 ',
  'x=JSON.parse("',
  'x=[!',
  'x[',
  '[',
  '1',
  'a',
])('looking for a variable takes time proportional to the script: %j', { timeout: 60_000 }, (pump) => {
  for (const head of ['', 'x=', 'x=[', 'x="'])
    expect(
      leapOf(
        (text) => void bodyOf(text, 'text/javascript').variable('x'),
        (length) => head + pump.repeat(length / pump.length),
        2 ** 21,
      ),
    ).toBeUndefined();
});

test.each([')]}', 'cb(', '1\n', '[', '{"a":', 'a.', '/**/', 'while(1);', ' '])(
  'reading JSON in a body takes time proportional to its length: %j',
  { timeout: 60_000 },
  (pump) => {
    expect(
      leapOf(
        (text) => void bodyOf(text).json(),
        (length) => pump.repeat(length / pump.length),
        2 ** 21,
      ),
    ).toBeUndefined();
  },
);
