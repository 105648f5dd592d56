import { delimiter, dirname, isAbsolute, relative } from 'node:path';

interface Start {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program's file as named on the command line, perhaps a link in a folder of commands. */
  readonly file: string;
  /** The current folder. */
  readonly folder: string;
}

/** The file that the npm script of a checkout runs. */
const BIN = /[\\/]bin[\\/]trawl\.cjs$/;

/**
 * Returns the command that started this process, so that commands in messages can be pasted as they are.
 *
 * | started                                            | returns                                                    |
 * |----------------------------------------------------|------------------------------------------------------------|
 * | with `TRAWL_COMMAND` set, as by the Compose file   | its value: `docker compose exec scraper trawl`             |
 * | by the npm script of a checkout                    | `npm run -s trawl --`                                      |
 * | from a `node_modules`, by `npx` or another script  | `npx trawl`                                                |
 * | from a Yarn archive (Plug'n'Play)                  | `yarn trawl`                                               |
 * | by its file in a checkout                          | `node services/cli/trawl.ts`                               |
 * | by a file in no folder of `PATH`                   | that file                                                  |
 * | in any other way, including as part of another program | `trawl`                                                |
 */
export function startedAs({ env, file, folder }: Start): string {
  if (env.TRAWL_COMMAND) return env.TRAWL_COMMAND;
  const isSource = file.endsWith('services/cli/trawl.ts');
  const isByScript = env.npm_lifecycle_event === 'trawl' && env.npm_package_name === 'trawl';
  if (isByScript && (isSource || BIN.test(file))) return 'npm run -s trawl --';
  if (isSource) return `node ${quoted(pathFrom(folder, file))}`;
  if (!file.endsWith('/trawl') && !file.endsWith('/trawl.cjs')) return 'trawl';
  if (file.includes('.zip/node_modules/')) return 'yarn trawl';
  if (env.npm_command === 'exec' || file.endsWith('/node_modules/.bin/trawl')) return 'npx trawl';
  return env.PATH?.split(delimiter).includes(dirname(file)) === true ? 'trawl' : quoted(pathFrom(folder, file));
}

/** The first words of every command in this process' messages. */
export const TRAWL: string = startedAs({ env: process.env, file: process.argv[1] ?? '', folder: process.cwd() });

/** The command that starts workers of the fleet: `trawl work`, or the value of `TRAWL_WORK_COMMAND`, as set by the Compose file. */
export const WORK_COMMAND: string = process.env.TRAWL_WORK_COMMAND || `${TRAWL} work`;

/** Returns an API's URL for a browser on this machine: the value of `TRAWL_API_URL`, as set by the Compose file, or its address. */
export function apiUrlOf(listensOn: string, { TRAWL_API_URL: told }: Start['env'] = process.env): string {
  return told || listensOn.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, 'http://127.0.0.1:');
}

/** Returns the file's path relative to the folder, if it is in there. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file);
  if (path.startsWith('..') || isAbsolute(path)) return file;
  return path.includes('/') ? path : `./${path}`;
}

/** Quotes a word of a command so that it is safe to paste into a shell: a host in a URL can be `$(reboot).example.com`. */
export function quoted(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
