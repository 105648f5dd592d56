import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { codeOf, messageOf, StorageError, UnavailableError, UsageError } from '../../../shared/runtime/errors.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { tell } from '../process/with-stores.ts';
import { developmentPackages, packProgram } from '../scaffold/packed-program.ts';
import { projectFiles } from '../scaffold/project-files.ts';

/** A name that suits both a crawler in a fleet and a file. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** `trawl init NAME`: creates a folder with a crawler, its test, and all that is needed to run them. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, [])
      .argument('<name>', 'name of the crawler and of its folder')
      .action(async (name: string, options: object) => {
        exit(await withContext(options, { logLevel: 'warn' }, (context) => init(name, context)));
      });
  },
};

async function init(name: string, context: Context): Promise<number> {
  if (!NAME.test(name))
    throw new UsageError(`expected a name of lower-case letters, digits and hyphens, at most 63, got "${name}"`);
  const entries = await entriesOf(name);
  if (entries !== undefined && entries.length > 0)
    throw new UsageError(`the folder ${name} exists and is not empty: choose another name, or move it away`);
  if (entries === undefined) await make(name);
  const files = await fill(name, { isOurs: entries === undefined });
  tell(context, { folder: name, files }, [
    `Created ${name}/ with crawlers/${name}.ts and its test. Next:`,
    `  cd ${name}`,
    '  npm install',
    '  npm test',
    `  npx trawl try https://www.example.com/ --crawler ${name} --watch`,
  ]);
  return 0;
}

/** Lists a folder's entries; undefined if there is no such folder. */
async function entriesOf(folder: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ENOTDIR') throw new UsageError(`${folder} is a file: choose another name`);
    throw new StorageError(`${folder} can't be read: ${messageOf(error)}`, { cause: error });
  }
}

async function make(folder: string): Promise<void> {
  try {
    // Not `recursive`, which reports a read-only disk as a folder that doesn't exist.
    await mkdir(folder);
  } catch (error: unknown) {
    throw unwritable(folder, error);
  }
}

/**
 * Fills a folder and returns the paths of its files. If that fails, the folder is removed, provided that this command created it.
 *
 * @throws UnavailableError if the program can't be packed, StorageError if the folder can't be written
 */
async function fill(name: string, { isOurs }: { readonly isOurs: boolean }): Promise<readonly string[]> {
  try {
    const tarball = await packProgram(join(process.cwd(), name));
    const files = projectFiles({ name, tarball, devDependencies: developmentPackages() });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(name, path)), { recursive: true });
      await writeFile(join(name, path), text);
    }
    return Object.keys(files);
  } catch (error: unknown) {
    if (isOurs) await rm(name, { recursive: true });
    throw error instanceof UnavailableError ? error : unwritable(name, error);
  }
}

function unwritable(folder: string, error: unknown): StorageError {
  return new StorageError(`${folder} can't be written: ${messageOf(error)}`, { cause: error });
}
