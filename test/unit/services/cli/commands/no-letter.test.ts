import { expect, test } from 'vitest';
import { noLetter } from '../../../../../services/cli/commands/dlq/letters.ts';

// biome-ignore format: a table
test.each([
  ['the fleet, as nothing was said', false, undefined, true],
  ['the fleet, by --no-local',       false, false,     false],
  ['this machine',                   true,  true,      false],
])('a URL without a letter in %s names --local only where it may help', (_, isLocal, local, isTold) => {
  const told = noLetter('http://a.test/', isLocal, local);
  expect(told).toMatch(/^no dead letter has the id or the URL http:\/\/a\.test\/; /);
  expect(told.includes('--local looks at')).toBe(isTold);
});
