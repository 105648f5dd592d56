#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// All else is loaded after this: types are stripped, and code is compiled, once per version of a file.
enableCompileCache();
const { main } = await import('./main.ts');
await main(process.argv);
