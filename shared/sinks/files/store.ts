import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { FetchedFile, FileStore } from '../../ports/file-store.ts';
import { makeOutputFolder, unusableOutput } from '../../runtime/files/output-folder.ts';
import { HOUR_MS, MINUTE_MS } from '../../task/durations.ts';

/** The folder of a run's files, within that of its records. */
const FOLDER = 'files';

/** Names of unfinished files. */
const UNFINISHED = /^\.[0-9a-f]{16}\.part$/;
/** Least age of an unfinished file to be removed, since a slow disk may still be writing it. */
const SLOW_DISK_MS = 10 * MINUTE_MS;
/** Time between two sweeps of a run's folder. */
const SWEEP_EVERY_MS = HOUR_MS;
/** Maximum number of runs to remember as swept. */
const MOST_RUNS = 1_000;

interface FolderFilesOptions {
  readonly folder: string;
  /** Longest time for a download. A file that is unfinished for longer was left by a killed process. */
  readonly downloadMs: number;
}

/** Stores files in `<folder>/<run>/files/<hash>.<extension>`, and removes unfinished files left there by killed processes. */
export class FolderFiles implements FileStore {
  readonly #folder: string;
  readonly #staleMs: number;
  /** The runs whose folders were swept recently. */
  readonly #swept = new LRUCache<string, true>({ max: MOST_RUNS, ttl: SWEEP_EVERY_MS });

  constructor({ folder, downloadMs }: FolderFilesOptions) {
    this.#folder = folder;
    this.#staleMs = Math.max(downloadMs, SLOW_DISK_MS);
  }

  async put({ run, body, hash, extension }: FetchedFile): Promise<string> {
    const folder = join(this.#folder, run, FOLDER);
    if (!this.#swept.has(run)) {
      this.#swept.set(run, true);
      await sweep(folder, this.#staleMs);
    }
    const name = extension === undefined ? hash : `${hash}.${extension}`;
    const path = join(folder, name);
    if (!(await isThere(path, body.byteLength))) await write(folder, path, body);
    return `${FOLDER}/${name}`;
  }
}

/** Removes unfinished files. Ignores errors: a file that stays costs space, but does no harm. */
async function sweep(folder: string, staleMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => UNFINISHED.test(each))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > staleMs) await rm(path, { force: true }).catch(() => {});
  }
}

/** Returns whether a file is stored already. Files are stored whole or not at all, so checking the size is enough. */
async function isThere(path: string, bytes: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === bytes;
}

/** Writes a file under a unique temporary name first, since other workers may be storing the same content. */
async function write(folder: string, path: string, body: Uint8Array): Promise<void> {
  const unfinished = join(folder, `.${randomBytes(8).toString('hex')}.part`);
  makeOutputFolder(folder);
  try {
    await synced(unfinished, 'wx', (file) => file.writeFile(body));
    await rename(unfinished, path);
    // The new name must survive a power cut, too.
    await synced(folder, 'r', async () => {});
  } catch (error: unknown) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw unusableOutput(path, error);
  }
}

async function synced(
  path: string,
  flags: string,
  change: (file: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags);
  try {
    await change(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
