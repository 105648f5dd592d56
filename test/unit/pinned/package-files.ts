import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** What `package.json` asks for, and what is installed. */
export function versionsOf(name: string): { readonly asked: string | undefined; readonly installed: string } {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { version } = JSON.parse(sourceOf(name, 'package.json'));
  return { asked: dependencies[name], installed: version };
}

/** A file of an installed package, as text. */
export function sourceOf(name: string, file: string): string {
  return readFileSync(join(ROOT, 'node_modules', name, file), 'utf8');
}

/** A CommonJS file of an installed package that the package does not export. */
export function requireInside(name: string, file: string): unknown {
  return createRequire(import.meta.url)(join(ROOT, 'node_modules', name, file));
}
