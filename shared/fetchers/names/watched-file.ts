import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';

/** Interval at which the file is checked for changes. */
const LOOK_EVERY_MS = 1_000;

interface WatchedFileOptions<T> {
  readonly path: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Gets an empty text if the file doesn't exist or can't be read. */
  readonly parse: (text: string) => T;
}

/** The parsed content of a small system file, read again when it has changed. */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #version = '';
  #current: Promise<T> | undefined;

  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
  }

  /** Returns the content, at most a second old. Never rejects. */
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

/** Returns a text that changes with the file, whether it is written in place, as Docker does, or replaced. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'missing';
  }
}
