import { expect, test } from 'vitest';
import { hostOfMark } from '../../../../../shared/task/url/fingerprint.ts';

// biome-ignore format: a table
test.each([
  ['http://a.test/1',                      'a.test'],
  ['https://user:p@a.test:81/x?u=http://b.test/', 'a.test:81'],
  ['detail http://a.test/1',               'a.test'],
  ['http://a.test.:81/1.',                 'a.test:81'],
  ['http://./',                            '.'],
  ['no url',                               ''],
])('the host in the mark "%s" is "%s"', (mark, host) => {
  expect(hostOfMark(mark)).toBe(host);
});
