import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Resolved like that of any package, since Yarn may keep it in an archive. */
const PACKAGE = createRequire(import.meta.url).resolve('trawl/package.json');

/** The version of this program, from `package.json`. */
export const VERSION: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version;
