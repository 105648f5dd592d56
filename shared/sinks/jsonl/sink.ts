import { join } from 'node:path';
import type { PageRecord } from '../../ports/record.ts';
import { type Sink, SYNC_EVERY_MS } from '../../ports/sink.ts';
import { LineFile } from '../../runtime/files/line-file.ts';
import { recordJson } from '../record-json.ts';

/** Time from the last write to a run's file until it is closed. */
const CLOSE_AFTER_MS = 60_000;
/** Maximum files kept open that long. Others are closed a second after their last write: small runs can begin by the thousand. */
const MOST_IDLE = 100;
/** Maximum files to remember. A forgotten run gets a second file with its next record. */
const MOST_FILES = 10_000;

interface JsonlSinkOptions {
  /** Records go to `<folder>/<run>/<worker>.jsonl`, or `<worker>-2.jsonl` if another process has that file. */
  readonly folder: string;
  readonly worker: string;
  readonly mostFiles?: number | undefined;
  readonly mostIdle?: number | undefined;
}

/**
 * Appends records to one file per run and process. A record survives a crash of the process once `write` has returned. Files are
 * synced to disk every second and at the end.
 */
export class JsonlSink implements Sink {
  readonly #options: JsonlSinkOptions;
  readonly #files = new Map<string, LineFile>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;

  constructor(options: JsonlSinkOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#timer ??= setInterval(() => this.#tidy(), SYNC_EVERY_MS).unref();
  }

  async put(record: PageRecord): Promise<void> {
    const line = `${recordJson(record)}\n`;
    let file = this.#files.get(record.run);
    if (file === undefined) {
      file = new LineFile(join(this.#options.folder, record.run, `${this.#options.worker}.jsonl`), { isNew: true });
      this.#files.set(record.run, file);
    }
    await file.append(line);
  }

  async sync(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.sync()));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map((file) => file.close().catch(() => {})));
  }

  /** Syncs and closes files, one round at a time: on a slow disk, a round takes longer than the interval between two. */
  #tidy(): void {
    this.#round ??= this.#tidyNow().finally(() => {
      this.#round = undefined;
    });
  }

  async #tidyNow(): Promise<void> {
    const { mostFiles = MOST_FILES, mostIdle = MOST_IDLE } = this.#options;
    let open = this.#files.values().reduce((count, file) => (file.isOpen ? count + 1 : count), 0);
    // Oldest entries first.
    for (const [run, file] of this.#files) {
      const isTooMany = file.isOpen && open-- > mostIdle;
      if (file.idleMs > (isTooMany ? SYNC_EVERY_MS : CLOSE_AFTER_MS)) {
        // The object remembers the file's name, and opens it again for the next record.
        if (file.isOpen) await file.close().catch(() => {});
        else if (this.#files.size > mostFiles) this.#files.delete(run);
      } else {
        // A failed sync fails no record, since all have been written.
        await file.sync().catch(() => {});
      }
    }
  }
}
