import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HERE = join(import.meta.dirname, '../../..');

/** Copies the program into a folder, adds these crawlers by their file names without `.ts`, and returns the folder. */
export async function copyProgram(folder: string, crawlers: Readonly<Record<string, string>>): Promise<string> {
  for (const part of ['services', 'shared', 'crawlers', 'package.json']) {
    await cp(join(HERE, part), join(folder, part), { recursive: true });
  }
  await symlink(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  await mkdir(join(folder, 'crawlers'), { recursive: true });
  for (const [name, text] of Object.entries(crawlers)) await writeFile(join(folder, 'crawlers', `${name}.ts`), text);
  return folder;
}

/** The text of a crawler that runs this code, from its fourth line on, on pages of this path. */
export function crawlerText(path: string, step: string): string {
  return `import { defineCrawler } from '../shared/crawler/crawler.ts';
const step = async (page) => {
  if (!new URL(page.url).pathname.endsWith('${path}')) return {};
  ${step}
};
export default defineCrawler({ name: 'own', step });
`;
}
