import { describe, expect, test } from 'vitest';
import { replayText } from '../../../../../services/api/dashboard/src/replay-text.ts';
import { linkTo, readRoute } from '../../../../../services/api/dashboard/src/route.ts';
import { shortened, visible } from '../../../../../services/api/dashboard/src/visible.ts';

describe('a place in the dashboard', () => {
  test.each([
    ['', [], {}],
    ['#/', [], {}],
    ['#/runs/run-1', ['runs', 'run-1'], {}],
    ['#/dead-letters?host=a.example&reason=timeout', ['dead-letters'], { host: 'a.example', reason: 'timeout' }],
    ['#/workers/%zz', ['workers', '%zz'], {}],
    ['#token=a/b+c?d=e', ['token=a/b+c?d=e'], {}],
    ['#token=a%2Fb', ['token=a/b'], {}],
  ])('%s is read', (hash, path, query) => {
    const route = readRoute(hash);
    expect([route.path, Object.fromEntries(route.query)]).toEqual([path, query]);
  });

  test('a link leads back to the values it was made from, whatever they contain', () => {
    const url = 'https://a.example/x?y=1&z=#"<\u202e';
    const route = readRoute(linkTo(['workers', 'a/b c'], { url, empty: '', none: undefined }));
    expect([route.path, Object.fromEntries(route.query)]).toEqual([['workers', 'a/b c'], { url }]);
  });
});

describe('a foreign text', () => {
  test.each([
    ['plain, größer 日本 😀', 'plain, größer 日本 😀'],
    ['gpj.\u202eexe', 'gpj.\\u202eexe'],
    ['a\u0000b\u001b[2J', 'a\\u0000b\\u001b[2J'],
    ['two\nlines\tand', 'two lines and'],
    ['pay\u200bpal', 'pay\\u200bpal'],
    ['so\u00adft \u3164 tag\u{e0041}', 'so\\u00adft \\u3164 tag\\u{e0041}'],
    ['می\u200cخواهم 👩\u200d🚀 ❤\ufe0f', 'می\u200cخواهم 👩\u200d🚀 ❤\ufe0f'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });
});

test('a list shows the beginning of a long text, and its length', () => {
  expect(shortened('x'.repeat(300))).toBe('x'.repeat(300));
  expect(shortened('x'.repeat(5_000))).toBe(`${'x'.repeat(300)}… (5 000 characters)`);
});

describe('what a replay would do', () => {
  const run = { run: 'r-replay-1', origin: 'r', accepted: 0 };
  test.each([
    [{ letters: 3, malformed: 0, runs: [run] }, '3 letters of 1 run.'],
    [
      { letters: 5, malformed: 1, withoutOwner: 2, runs: [{ ...run, ofGroups: 4, owners: 1 }, run] },
      "5 letters of 2 runs. 4 letters of 1 owner. 1 malformed letter will stay. 2 letters of groups can't be replayed, and will stay.",
    ],
  ])('%j is told', (answer, text) => {
    expect(replayText(answer)).toBe(text);
  });
});
