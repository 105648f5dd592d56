import { parse } from 'dotenv';
import { expect, test } from 'vitest';
import { oddLines } from '../../../../shared/settings/env-lines.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

const IGNORED = 'it is ignored, since it is not NAME=value';

// biome-ignore format: a table
test.each<[string, string, ReturnType<typeof oddLines>]>([
  ['an empty file',              '',                                   []],
  ['assignments and comments',   '# a\n\nA=1\nexport B = "x" # y\nC: z\r\nD=\n', []],
  ['quotes over several lines',  'A="x\ny = z\n"\nB=\'1\n2\' # c',     []],
  ['a quote in a value',         "A=it's\nB=x\"y",                     []],
  ['an escaped quote',           'A="x\\"y"\nB=1',                     []],
  ['a name without a value',     'A=1\nB\nC=1',                        [{ line: 2, problem: IGNORED }]],
  ['a name with a space',        'RATE LIMIT=1',                       [{ line: 1, problem: IGNORED }]],
  ['a command',                  'A=1\r\nsource ../.env\r\n',          [{ line: 2, problem: IGNORED }]],
  ['a quote that is not closed', 'A=1\nB="x\nC=2',                     [{ line: 2, problem: 'the " before the value of B is never closed' }]],
])('what is odd in %s', (_, text, odd) => {
  expect(oddLines(text)).toEqual(odd);
});

test('a line is reported as ignored exactly if dotenv gets nothing from it', () => {
  const random = new SeededRandom(1);
  const parts = ['A', '=', ' ', ':', 'export ', '#', '"', "'", 'x', '\\', '-', '\t', '.'];
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 8 }, () => random.pick(parts)).join('');
    const isEmpty = text.trim() === '' || text.trim().startsWith('#');
    const isIgnored = !isEmpty && Object.keys(parse(text)).length === 0;
    expect([text, oddLines(text).some(({ problem }) => problem === IGNORED)]).toEqual([text, isIgnored]);
  }
});
