import { readFileSync, writeFileSync } from 'node:fs';
import { configurationTable, envExample, TABLE_END, TABLE_START } from './settings-docs.ts';

// Writes what follows from the table of settings: `.env.example`, and the table in docs/configuration.md.
writeFileSync('.env.example', envExample());
const page = readFileSync('docs/configuration.md', 'utf8');
const [before] = page.split(TABLE_START);
const [, after] = page.split(TABLE_END);
writeFileSync('docs/configuration.md', `${before}${TABLE_START}\n${configurationTable()}${TABLE_END}${after}`);
