import { extname } from 'node:path';

/** Where the module of this name is, beside the one with this URL: TypeScript in a checkout, JavaScript in a package. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`${name}${extname(url)}`, url);
}
