import { delimiter, dirname, isAbsolute, relative } from 'node:path';

interface Start {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program's file as it was named: a link in a folder of commands, say. */
  readonly file: string;
  readonly folder: string;
}

/** What the script of a checkout runs. */
const BIN = /[\\/]bin[\\/]trawl\.cjs$/;

/**
 * How this process was started, so that the commands that messages name can be pasted as they are.
 *
 * | started                                            | gives                                                      |
 * |----------------------------------------------------|------------------------------------------------------------|
 * | with `TRAWL_COMMAND` set, as by the Compose file   | that: `docker compose exec scraper trawl`                  |
 * | by the script of a checkout                        | `npm run -s trawl --`                                      |
 * | out of a `node_modules`, by `npx` or another script | `npx trawl`                                               |
 * | out of an archive of Yarn's (Plug'n'Play)          | `yarn trawl`                                               |
 * | by its file in a checkout                          | `node services/cli/trawl.ts`                               |
 * | by a file in no folder of `PATH`                   | that file                                                  |
 * | in any other way, also as a part of another program | `trawl`                                                   |
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

/** The first words of every command that a message of this process names. */
export const TRAWL: string = startedAs({ env: process.env, file: process.argv[1] ?? '', folder: process.cwd() });

/** Starts workers of the fleet: `trawl work`, or what `TRAWL_WORK_COMMAND` says, as in the Compose file. */
export const WORK_COMMAND: string = process.env.TRAWL_WORK_COMMAND || `${TRAWL} work`;

/** Where a browser on this machine finds an API: what `TRAWL_API_URL` says, as in the Compose file, or where it listens. */
export function apiUrlOf(listensOn: string, { TRAWL_API_URL: told }: Start['env'] = process.env): string {
  return told || listensOn.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, 'http://127.0.0.1:');
}

/** The path from the folder, if it is in there. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file);
  if (path.startsWith('..') || isAbsolute(path)) return file;
  return path.includes('/') ? path : `./${path}`;
}

/** A word of a command, safe to paste into a shell, whoever wrote it: a host in a URL may be called `$(reboot).example.com`. */
export function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
