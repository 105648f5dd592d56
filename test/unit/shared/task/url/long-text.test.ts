import { expect, test } from 'vitest';
import { afterManyExpressions } from '../../../../support/hostile/after-many-expressions.ts';

const SCRIPT = `
const { withoutCredentialsIn } = await import(at('shared/task/url/url.ts'));
const { Problem, problemText } = await import(at('services/api/http/problem.ts'));
const long = (unit) => unit.repeat(20_000_000 / unit.length);
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

test('credentials are removed from texts of megabytes and problems are cut, even after many regular expressions', () => {
  expect(afterManyExpressions(SCRIPT)).toEqual({
    // Of `/…/@` and the like, what stands before the `@` is taken for credentials.
    kept: [0, 0, -1, -1, 0, 0],
    user: 'a.test/',
    password: 'a.test/',
    within: 'got http://a.test/',
    detail: '… is long',
  });
});
