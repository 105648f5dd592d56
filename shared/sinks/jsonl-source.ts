import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { codeOf } from '../errors.ts';
import type { PageRecord } from '../record.ts';
import type { RecordSource } from '../sink.ts';
import { NewestReleases } from './newest-releases.ts';

/**
 * The records of a folder that {@link JsonlSink}s wrote to. Two passes: the first finds the highest release of each task,
 * the second gives the lines that have it. Torn lines are skipped.
 */
export class JsonlSource implements RecordSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async *read(run: string): AsyncGenerator<PageRecord> {
    const files = await this.#files(run);
    const newest = new NewestReleases();
    for (const file of files) for await (const record of recordsOf(file)) newest.see(record.task, record.release);
    for (const file of files) {
      for await (const record of recordsOf(file)) {
        if (newest.take(record.task, record.release)) yield record;
      }
    }
  }

  async find(run: string, task: string): Promise<PageRecord | undefined> {
    let found: PageRecord | undefined;
    for (const file of await this.#files(run)) {
      for await (const line of linesOf(file)) {
        // Most lines are of other tasks, and need not be parsed.
        const record = line.includes(task) ? parse(line) : undefined;
        if (record?.task === task && record.release >= (found?.release ?? 0)) found = record;
      }
    }
    return found;
  }

  async runs(): Promise<readonly string[]> {
    try {
      const entries = await readdir(this.#folder, { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch (error: unknown) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async has(run: string): Promise<boolean> {
    return (await this.#files(run)).length > 0;
  }

  async close(): Promise<void> {}

  async #files(run: string): Promise<string[]> {
    try {
      const names = await readdir(join(this.#folder, run));
      return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(this.#folder, run, name));
    } catch (error: unknown) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }
}

async function* recordsOf(file: string): AsyncGenerator<PageRecord> {
  for await (const line of linesOf(file)) {
    const record = parse(line);
    if (record !== undefined) yield record;
  }
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

function parse(line: string): PageRecord | undefined {
  if (!line.endsWith('}')) return undefined;
  try {
    return JSON.parse(line) as PageRecord;
  } catch {
    return undefined;
  }
}
