import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import { isOutputOver } from './output.ts';

const BATCH_LENGTH = 64 * 1024;

/** Where many lines go. Writing waits for a slow reader. */
export interface LineOutput {
  /** Takes text that is safe to show. */
  write(text: string): Promise<void>;
  /** The reader has left: nothing written from now on is read. */
  readonly isOver: boolean;
  close(): Promise<void>;
}

/**
 * Opens standard output, or a file, which is truncated.
 *
 * @throws StorageError if the file can't be opened; so does writing to one that is full
 */
export async function openLineOutput(path?: string): Promise<LineOutput> {
  if (path === undefined) return standardOutput;
  try {
    return new FileOutput(path, await open(path, 'w'));
  } catch (error: unknown) {
    throw unwritable(path, error);
  }
}

const standardOutput: LineOutput = {
  async write(text) {
    // `watchOutput` handles the stream's failure.
    if (!isOutputOver() && !process.stdout.write(text)) await once(process.stdout, 'drain').catch(() => {});
  },
  get isOver() {
    return isOutputOver();
  },
  async close() {},
};

class FileOutput implements LineOutput {
  readonly isOver = false;
  readonly #path: string;
  readonly #file: FileHandle;
  #waiting = '';

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  async write(text: string): Promise<void> {
    this.#waiting += text;
    if (this.#waiting.length >= BATCH_LENGTH) await this.#flush();
  }

  async close(): Promise<void> {
    try {
      await this.#flush();
    } finally {
      await this.#file.close();
    }
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = '';
    try {
      await this.#file.writeFile(text);
    } catch (error: unknown) {
      throw unwritable(this.#path, error);
    }
  }
}

function unwritable(path: string, error: unknown): StorageError {
  const reason = messageOf(error);
  return new StorageError(`${path} can't be written: ${reason}. Name another file with --output`, { cause: error });
}
