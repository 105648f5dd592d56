import { registerHooks } from 'node:module';
import { moduleBeside } from '../../runtime/module-beside.ts';

const TRAWL = moduleBeside(import.meta.url, '../trawl').href;
/** By URL, the files outside packages that each such file imports. */
const imports = new Map<string, Set<string>>();
let isResolved = false;

/**
 * Makes `import … from 'trawl'` mean this program in every module from now on, whether the program is a package beside a crawler, installed
 * globally, or a checkout. Also makes a crawler's `.ts` files ES modules, whatever the `package.json` beside them says.
 */
export function resolveOwnImport(): void {
  if (isResolved) return;
  isResolved = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'trawl') return { url: TRAWL, shortCircuit: true };
      const found = next(specifier, context);
      if (!isOwnFile(found.url)) return found;
      if (context.parentURL !== undefined && isOwnFile(context.parentURL)) note(context.parentURL, found.url);
      return found.url.endsWith('.ts') ? { ...found, format: 'module-typescript' } : found;
    },
  });
}

/** Returns the URLs of files outside packages that a file has imported since {@link resolveOwnImport}. */
export function importsOf(url: string): Iterable<string> {
  return imports.get(url) ?? [];
}

function isOwnFile(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

function note(from: string, to: string): void {
  const known = imports.get(from);
  if (known === undefined) imports.set(from, new Set([to]));
  else known.add(to);
}
