import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../../../../shared/stores/redis/rights/commands.ts';

const FOLDER = 'shared/stores/redis';

function sourcesOf(ending: string): string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => readFileSync(join(FOLDER, path), 'utf8'));
}

/** Commands that don't run on a key of the fleet. */
const OTHERS = [
  'CALL',
  'COMMAND',
  'CONFIG',
  'CONNECT',
  'DISCONNECT',
  'EVAL',
  'EVALSHA',
  'INFO',
  'MULTI',
  'ON',
  'PING',
  'TIME',
];

test('the rights that are checked are those of the commands that scripts and stores use', () => {
  const inScripts = sourcesOf('.lua').flatMap((text) => [...text.matchAll(/redis\.p?call\('([A-Z]+)'/g)]);
  const inStores = sourcesOf('.ts').flatMap((text) => [...text.matchAll(/\b[rR]edis\.([a-z]+)(?:Buffer)?\(/g)]);
  const used = new Set([...inScripts, ...inStores].map(([, name = '']) => name.toUpperCase()));
  expect([...used].filter((name) => !OTHERS.includes(name)).toSorted()).toEqual(Object.keys(COMMANDS));
});
