import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Resolved as any package's: Yarn may have it in an archive. */
const PACKAGE = createRequire(import.meta.url).resolve('trawl/package.json');

/** The version of this program, as `package.json` has it. */
export const VERSION: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version;
