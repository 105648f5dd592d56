import { readFileSync, writeFileSync } from 'node:fs';
import { readCommandLine } from '../bench/command-line.ts';
import { apiReference, openApiDocument, REFERENCE_END, REFERENCE_START } from './api-docs.ts';
import { configurationTable, envExample, TABLE_END, TABLE_START } from './settings-docs.ts';

readCommandLine(
  `npm run docs
Writes the generated docs: .env.example and the table in docs/configuration.md from the table of settings, and the reference in docs/api.md from
the routes of the API.`,
  {},
);
writeFileSync('.env.example', envExample());
putBetween('docs/configuration.md', TABLE_START, TABLE_END, `\n${configurationTable()}`);
putBetween('docs/api.md', REFERENCE_START, REFERENCE_END, `\n\n${apiReference(await openApiDocument())}\n`);

function putBetween(path: string, start: string, end: string, text: string): void {
  const page = readFileSync(path, 'utf8');
  const [before] = page.split(start);
  const [, after] = page.split(end);
  writeFileSync(path, `${before}${start}${text}${end}${after}`);
}
