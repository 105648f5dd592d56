import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { FetchedFile, FileStore } from '../../ports/file-store.ts';
import { makeOutputFolder, unusableOutput } from '../../runtime/files/output-folder.ts';
import { HOUR_MS, MINUTE_MS } from '../../task/durations.ts';

/** The folder of a run's files, below that of its records. */
const FOLDER = 'files';

/** How files begin and end that are not yet whole. */
const UNFINISHED = /^\.[0-9a-f]{16}\.part$/;
/** No younger one is swept: a slow disk may still be at it. */
const SLOW_DISK_MS = 10 * MINUTE_MS;
/** Between two sweeps of a run's folder. */
const SWEEP_EVERY_MS = HOUR_MS;
/** Runs whose folders are known to be swept. */
const MOST_RUNS = 1_000;

interface FolderFilesOptions {
  readonly folder: string;
  /** The longest that a download may take: what is unfinished for longer was left by a process that was killed. */
  readonly downloadMs: number;
}

/** Stores files in `<folder>/<run>/files/<hash>.<extension>`, and sweeps there what killed processes have left unfinished. */
export class FolderFiles implements FileStore {
  readonly #folder: string;
  readonly #staleMs: number;
  /** The runs whose folder was swept of late. */
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

/** What can't be looked at or removed stays: it costs room, and no file. */
async function sweep(folder: string, staleMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => UNFINISHED.test(each))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > staleMs) await rm(path, { force: true }).catch(() => {});
  }
}

/** A file is there as a whole or not at all, so its size tells as much as its content. */
async function isThere(path: string, bytes: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === bytes;
}

/** Under another name first, of this call alone: other workers may be storing the same content. */
async function write(folder: string, path: string, body: Uint8Array): Promise<void> {
  const unfinished = join(folder, `.${randomBytes(8).toString('hex')}.part`);
  makeOutputFolder(folder);
  try {
    await synced(unfinished, 'wx', (file) => file.writeFile(body));
    await rename(unfinished, path);
    // The new name, too, must survive a power cut.
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
