import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

/** A regular expression in the source. */
export interface SourcePattern {
  readonly file: string;
  readonly pattern: RegExp;
}

const ROOT = join(import.meta.dirname, '../../..');

/** Reads the regular expressions of all production code, and the files that build others at run time. */
export function readSourcePatterns(): {
  readonly patterns: readonly SourcePattern[];
  readonly makers: readonly string[];
} {
  const patterns: SourcePattern[] = [];
  const makers: string[] = [];
  for (const file of globSync('{services,shared,crawlers}/**/*.ts', { cwd: ROOT }).toSorted()) {
    for (const node of nodesOf(parseSync(readFileSync(join(ROOT, file), 'utf8'), { syntax: 'typescript' }))) {
      if (node.type === 'RegExpLiteral') {
        patterns.push({ file, pattern: new RegExp(String(node.pattern), String(node.flags)) });
      } else if (isMaker(node)) {
        makers.push(file);
      }
    }
  }
  return { patterns, makers };
}

/** Is it `new RegExp(…)`, or the same without `new`? */
function isMaker({ type, callee }: Readonly<Record<string, unknown>>): boolean {
  const isCall = type === 'NewExpression' || type === 'CallExpression';
  return isCall && typeof callee === 'object' && callee !== null && 'value' in callee && callee.value === 'RegExp';
}

function* nodesOf(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const part of Object.values(value)) yield* nodesOf(part);
}
