import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';

/** How long a change may stay unseen. */
const LOOK_EVERY_MS = 1_000;

interface WatchedFileOptions<T> {
  readonly path: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Given the empty text when there is no such file, or when it can't be read. */
  readonly parse: (text: string) => T;
}

/** What a small file of the system says, read again when it has changed. */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #version = '';
  #current: Promise<T> | undefined;

  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
  }

  /** At most a second old. Never rejects. */
  async read(): Promise<T> {
    const now = this.#options.clock.monotonic();
    if (this.#current === undefined || now >= this.#nextLookAt) {
      this.#nextLookAt = now + LOOK_EVERY_MS;
      this.#current = this.#look(this.#current);
    }
    return await this.#current;
  }

  async #look(known: Promise<T> | undefined): Promise<T> {
    const { path, parse } = this.#options;
    const version = await versionOf(path);
    if (known !== undefined && version === this.#version) return await known;
    const text = await readFile(path, 'utf8').catch(() => '');
    this.#version = version;
    return parse(text);
  }
}

/** Differs when the file does: Docker writes into it, others put another in its place. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'missing';
  }
}
