import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of this program, as `package.json` has it. */
export const VERSION: string = JSON.parse(readFileSync(findPackageJSON(import.meta.url) ?? '', 'utf8')).version;
