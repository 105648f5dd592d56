import { registerHooks } from 'node:module';
import { moduleBeside } from '../runtime/module-beside.ts';

const TRAWL = moduleBeside(import.meta.url, './trawl').href;
let isResolved = false;

/**
 * From now on `import … from 'trawl'` means this program in every module, whether it is a package beside a crawler, one that is
 * installed globally, or a checkout; and a crawler's `.ts` files are ES modules, whatever the `package.json` beside them says.
 */
export function resolveOwnImport(): void {
  if (isResolved) return;
  isResolved = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'trawl') return { url: TRAWL, shortCircuit: true };
      const found = next(specifier, context);
      const isOurs = found.url.startsWith('file:') && !found.url.includes('/node_modules/');
      return isOurs && found.url.endsWith('.ts') ? { ...found, format: 'module-typescript' } : found;
    },
  });
}
