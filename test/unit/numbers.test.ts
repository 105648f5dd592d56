import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

type SourceNode = Readonly<Record<string, unknown>>;

/** Numbers above this have a name: what a bare `60000` is, nobody knows who meets it a second time. */
const LARGEST_BARE = 1_024;

/** The values of what has a name: `const MINUTE_MS = …`, `{ maxBodyBytes: … }`. Any other stands bare. */
function isNamed({ type }: SourceNode): boolean {
  return type === 'VariableDeclarator' || type === 'KeyValueProperty';
}

function* bareNumbersOf(value: unknown): Generator<number> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const part of value) yield* bareNumbersOf(part);
    return;
  }
  const node = value as SourceNode;
  if (node.type === 'NumericLiteral' && Number(node.value) > LARGEST_BARE) yield Number(node.value);
  for (const part of Object.values(node)) {
    if (isNamed(node) && isPlain(part)) continue;
    yield* bareNumbersOf(part);
  }
}

/** A number, or a sum or product of numbers: what is named by the name in front of it. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, left, right } = value as SourceNode;
  return type === 'NumericLiteral' || (type === 'BinaryExpression' && isPlain(left) && isPlain(right));
}

test.each(globSync('{services,shared}/**/*.ts', { cwd: ROOT }).toSorted())(
  'every large number in %s has a name',
  (file) => {
    const source = parseSync(readFileSync(join(ROOT, file), 'utf8'), { syntax: 'typescript' });
    expect([...bareNumbersOf(source)]).toEqual([]);
  },
);
