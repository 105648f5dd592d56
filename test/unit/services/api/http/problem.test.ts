import { expect, test } from 'vitest';
import { Problem, problemText } from '../../../../../services/api/http/problem.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';
import { openApi } from '../setup.ts';

/** Characters, with the sign that it was cut. */
const MOST = 4_001;
const LONG = `https://a.test/${'n'.repeat(60_000)}`;

test.each<[string, string, object]>([
  ['a name', '/api/runs', { body: { [LONG]: 1 } }],
  ['a name of an argument', '/api/runs', { body: { seeds: ['https://a.test/'], args: { [LONG]: 'x' } } }],
  ['many names', '/api/runs', { body: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`n${n}`, 1])) }],
  ['an address', `/api/${'n'.repeat(12_000)}/%zz`, {}],
])('a problem repeats only the beginning of a long value from the request: %s', async (_, path, asking) => {
  const { ask } = await openApi();
  const { status, json } = await ask(path, asking);
  expect([status, json.code]).toEqual([400, 'usage']);
  expect(json.detail.length).toBeLessThanOrEqual(MOST);
});

function detailOf(message: string): string {
  return JSON.parse(problemText(new Problem('usage', message))).detail;
}

test('text after a long word is kept, and no credentials are shown, wherever the text is cut', () => {
  expect(detailOf(`expected "${LONG}" to be short`)).toBe(`expected "https://a.test/${'n'.repeat(284)}… to be short`);
  for (const length of [270, 280, 290, 60_000])
    expect(detailOf(`got https://user:${'p'.repeat(length)}@a.test/`)).toBe('got https://a.test/');
  expect(problemText(new Problem('usage', `${'n'.repeat(299)}😀`))).not.toContain('\\ud83d');
});

test.each([
  ['short words', 'ab '],
  ['one long word', 'n'],
  ['slashes', '/'],
  ['credentials that never end', '//u:'],
])('megabytes of %s are cut in no time', (_, unit) => {
  expectCpuBelow(2, () => {
    expect(detailOf(unit.repeat(8_000_000 / unit.length)).length).toBeLessThanOrEqual(MOST);
  });
});
