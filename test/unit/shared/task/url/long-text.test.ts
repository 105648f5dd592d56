import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/**
 * What V8 does for new expressions in a process that has compiled many: for each character of `\S+` it keeps where to go
 * back to. A process of its own, since the flag is the whole process's.
 */
const AS_AFTER_MANY_EXPRESSIONS = '--no-regexp-optimization';
const LENGTH = 20_000_000;

const SCRIPT = `
const { withoutCredentialsIn } = await import(${JSON.stringify(beside('shared/task/url/url.ts'))});
const { Problem, problemText } = await import(${JSON.stringify(beside('services/api/http/problem.ts'))});
const long = (unit) => unit.repeat(${LENGTH} / unit.length);
const kept = [long('n'), long('n') + '@', long('/') + '@', 'https:' + long('/') + '@', long(' ') + '@', 'x //' + long('n') + ' @'];
const cut = {
  user: long('n') + ':p@a.test/',
  password: 'u:' + long('p') + '@a.test/',
  within: 'got http://' + long('u') + ':p@a.test/',
};
console.log(JSON.stringify({
  kept: kept.map((text) => withoutCredentialsIn(text).length - text.length),
  ...Object.fromEntries(Object.entries(cut).map(([name, text]) => [name, withoutCredentialsIn(text)])),
  detail: JSON.parse(problemText(new Problem('usage', long('n') + ' is long'))).detail.slice(-9),
}));
`;

function beside(path: string): string {
  return new URL(`../../../../../${path}`, import.meta.url).href;
}

test('credentials are removed from texts of megabytes, and problems cut, after many expressions too', () => {
  const printed = execFileSync(process.execPath, [AS_AFTER_MANY_EXPRESSIONS, '--input-type=module', '-e', SCRIPT]);
  expect(JSON.parse(printed.toString())).toEqual({
    // Of `/…/@` and the like, what stands before the `@` is taken for credentials.
    kept: [0, 0, -1, -1, 0, 0],
    user: 'a.test/',
    password: 'a.test/',
    within: 'got http://a.test/',
    detail: '… is long',
  });
});
