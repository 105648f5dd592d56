import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test } from 'vitest';
import { readScript } from '../../../../../shared/stores/redis/script-text.ts';

test('a script that is needed for the first time while no file can be opened is known', () => {
  const { readFileSync } = fs;
  onTestFinished(() => {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  });
  fs.readFileSync = () => {
    throw new Error('EMFILE: too many open files');
  };
  syncBuiltinESMExports();
  expect(readScript('settle')).toMatch(/^#!lua/);
});
