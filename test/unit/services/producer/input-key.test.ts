import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inputKeyOf } from '../../../../services/producer/input-key.ts';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { folder } from './documents.ts';

const SITE: Seed = { kind: 'site', url: 'https://a.example/' };
const PAGE: Seed = { kind: 'page', url: 'https://a.example/1' };

test('the same seeds have the same key, in any order and however often each is given', () => {
  const key = inputKeyOf([SITE, PAGE], '');
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(inputKeyOf([PAGE, SITE, PAGE], '')).toBe(key);
  for (const other of [inputKeyOf([SITE], ''), inputKeyOf([SITE, PAGE], '7d'), inputKeyOf([], '')]) {
    expect(other).not.toBe(key);
  }
});

test('the key of a file stays the same while its size and modification time do', () => {
  const path = join(folder(), 'urls');
  const seed: Seed = { kind: 'list', path };
  writeFileSync(path, 'https://a.example/1\n');
  utimesSync(path, 1, 1);
  const key = inputKeyOf([seed], '');
  expect(inputKeyOf([seed], '')).toBe(key);
  utimesSync(path, 1, 2);
  expect(inputKeyOf([seed], '')).not.toBe(key);
  writeFileSync(path, 'https://a.example/12\n');
  utimesSync(path, 1, 1);
  expect(inputKeyOf([seed], '')).not.toBe(key);
});

test('an input with a missing file has no key', () => {
  expect(inputKeyOf([SITE, { kind: 'file', path: join(folder(), 'missing') }], '')).toBeUndefined();
});
