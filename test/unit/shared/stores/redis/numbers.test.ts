import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withNumbers } from '../../../../../shared/stores/redis/numbers.ts';

const FOLDER = join(import.meta.dirname, '../../../../../shared/stores/redis/lua');
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));

/** A script's lines without comments and strings. */
function codeOf(file: string): string[] {
  return readFileSync(join(FOLDER, file), 'utf8')
    .split('\n')
    .map((line) => line.replaceAll(/'(?:[^'\\]|\\.)*'/g, "''").replace(/--.*/, ''));
}

test.each(FILES)('%s has no large number of its own: numbers that two programs share are written once', (file) => {
  const large = codeOf(file).filter((line) => line.match(/\b\d+\b/g)?.some((number) => Number(number) > 1_000));
  expect(large).toEqual([]);
  expect(readFileSync(join(FOLDER, file), 'utf8')).not.toMatch(/'\d{4,}'/);
});

test.each(FILES)('every name in capitals in %s has a value', (file) => {
  const code = codeOf(file).join('\n');
  const shared = ['shared/marks.lua', 'shared/prelude.lua'].map((name) => codeOf(name).join('\n')).join('\n');
  const local = new Set(Array.from(`${shared}\n${code}`.matchAll(/^ *local ([A-Z_]+) =/gm), ([, name]) => name));
  const names = new Set(code.match(/\b[A-Z][A-Z_]+\b/g));
  for (const name of ['ARGV', 'KEYS', ...local]) names.delete(name ?? '');
  for (const name of names) expect(withNumbers(name), name).toMatch(/^(?:\d+(?:\.\d+)?|"[^"]+")$/);
});

test('names of numbers in a script are replaced by the numbers', () => {
  expect(withNumbers('local till = now + WORKING_MS')).toBe('local till = now + 60000');
  expect(withNumbers("redis.call('HGET', P, host == MALFORMED_HOST)")).toBe('redis.call(\'HGET\', P, host == "?")');
});
