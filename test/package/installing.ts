import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Ended } from '../support/processes/trawl.ts';

export const CHECKOUT = join(import.meta.dirname, '../..');

/** The crawlers in a user's working folder. */
const FILES: Readonly<Record<string, string>> = {
  'shop.ts': `import { defineCrawler, type Page } from 'trawl';
import { price } from './parts/price.ts';

const name = (page: Page): string | undefined => page.title;
export default defineCrawler({ name: 'shop', step: (page) => ({ data: { name: name(page), price } }) });
`,
  'parts/price.ts': `export const price: number = 3;
`,
  'crawlers/named.ts': `export { default } from '../shop.ts';
`,
  'broken.ts': `import { defineCrawler } from 'trawl';

export default defineCrawler({ name: 'broken', step: () => JSON.parse('{') });
`,
  'endless.ts': `import { defineCrawler } from 'trawl';

export default defineCrawler({
  name: 'endless',
  step: () => {
    for (;;);
  },
});
`,
};

/** Creates a folder with crawlers outside the checkout. */
export async function openFolder(name: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `trawl-${name}-`)));
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** Variables that npm and the tests set for the processes they start; npm's registry setting is kept. */
const SET_BY_TESTS = /^(npm_(?!config_registry$)|INIT_CWD$|NODE$|NODE_ENV$|VITEST|TRAWL_)/;
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SET_BY_TESTS.test(name)));
/** Turns off everything npm does besides installing, and lets an install reuse what an earlier one got from the registry. */
const NPM = {
  npm_config_loglevel: 'error',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
};

interface RunOptions {
  readonly cwd: string;
  /** Folders to put first in `PATH`. */
  readonly path?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command with this Node.js and the variables of a user's shell. */
export async function run(words: readonly string[], { cwd, path = [], env }: RunOptions): Promise<Ended> {
  const folders = [...path, dirname(process.execPath), process.env.PATH];
  const [command = '', ...args] = words;
  const child = spawn(command, args, {
    cwd,
    env: { ...ENV, PATH: folders.join(delimiter), ...NPM, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
    });
  }
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

/** Runs a command and returns its standard output. Throws if it fails. */
export async function done(words: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(words, options);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}
