import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { codeOf, messageOf, StorageError, UsageError } from '../../../shared/runtime/errors.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { tell } from '../process/with-stores.ts';
import { developmentPackages, packProgram } from '../scaffold/packed-program.ts';
import { projectFiles } from '../scaffold/project-files.ts';

/** As crawlers are named in a fleet, and files are. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** `trawl init NAME`: a folder with a crawler, its test, and what runs them. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, [])
      .argument('<name>', 'of the crawler, and of its folder')
      .action(async (name: string, options: object) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => init(name, context)));
      });
  },
};

async function init(name: string, context: Context): Promise<number> {
  if (!NAME.test(name))
    throw new UsageError(`expected a name of lower-case letters, digits and hyphens, at most 63, got "${name}"`);
  if ((await entriesOf(name)).length > 0)
    throw new UsageError(`the folder ${name} is there, and not empty: choose another name, or move it away`);
  await mkdir(name, { recursive: true });
  const files = projectFiles({ name, tarball: await pack(name), devDependencies: developmentPackages() });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(name, path)), { recursive: true });
    await writeFile(join(name, path), text);
  }
  tell(context, { folder: name, files: Object.keys(files) }, [
    `Made ${name}/, with crawlers/${name}.ts and its test. Next:`,
    `  cd ${name}`,
    '  npm install',
    '  npm test',
    `  npx trawl try https://www.example.com/ --crawler ${name} --watch`,
  ]);
  return 0;
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return [];
    if (codeOf(error) === 'ENOTDIR') throw new UsageError(`${folder} is a file: choose another name`);
    throw new StorageError(`${folder} can't be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Leaves no empty folder if the program can't be packed. */
async function pack(folder: string): Promise<string> {
  try {
    return await packProgram(join(process.cwd(), folder));
  } catch (error: unknown) {
    await rm(folder, { recursive: true });
    throw error;
  }
}
