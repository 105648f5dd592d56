import { extname } from 'node:path';

/** Returns the URL of a module next to the one given: TypeScript in a checkout, JavaScript in a package. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`${name}${extname(url)}`, url);
}
