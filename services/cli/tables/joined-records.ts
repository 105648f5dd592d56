import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TableRecord } from '../../../shared/control/table/table-query.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import type { UrlKeyRule } from '../../../shared/task/url/url-key.ts';
import { type ListLine, taskOf } from './list-lines.ts';

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * The records of a list's lines, in the order of the list. Records come in any order and may be large, so they wait in a
 * temporary file; in memory is only the list.
 */
export class JoinedRecords {
  readonly #lines: readonly { readonly line: ListLine; readonly task: string }[];
  readonly #places = new Map<string, Place | undefined>();
  readonly #folder = temporaryFolder();
  readonly #onExit = (): void => rmSync(this.#folder, { recursive: true, force: true });
  #file: FileHandle | undefined;

  constructor(list: readonly ListLine[], run: string, rules: readonly UrlKeyRule[] | undefined) {
    this.#lines = list.map((line) => ({ line, task: taskOf(line, run, rules) }));
    for (const { task } of this.#lines) this.#places.set(task, undefined);
    process.once('exit', this.#onExit);
  }

  /** Keeps those records that lines of the list have. */
  async keep(records: AsyncIterable<PageRecord>): Promise<void> {
    let offset = 0;
    this.#file = await open(join(this.#folder, 'records'), 'w+');
    for await (const record of records) {
      if (!this.#places.has(record.task)) continue;
      const json = Buffer.from(JSON.stringify(record));
      await this.#file.write(json, 0, json.length, offset).catch((error: unknown) => {
        throw new StorageError(`${this.#folder} can't be written: ${messageOf(error)} (TMPDIR)`, { cause: error });
      });
      this.#places.set(record.task, { offset, bytes: json.length });
      offset += json.length;
    }
  }

  /** A record for each line, with `given`. */
  async *read(): AsyncGenerator<TableRecord, void, void> {
    for (const { line, task } of this.#lines) {
      const place = this.#places.get(task);
      yield { given: line.given, ...(place === undefined ? withoutRecord(line) : await this.#at(place)) };
    }
  }

  async close(): Promise<void> {
    process.off('exit', this.#onExit);
    await this.#file?.close();
    this.#onExit();
  }

  async #at({ offset, bytes }: Place): Promise<TableRecord> {
    const buffer = Buffer.alloc(bytes);
    await this.#file?.read(buffer, 0, bytes, offset);
    return JSON.parse(buffer.toString()) as TableRecord;
  }
}

/** @throws StorageError if there can be none */
function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'trawl-join-'));
  } catch (error: unknown) {
    throw new StorageError(`${tmpdir()} can't be written: ${messageOf(error)} (TMPDIR)`, { cause: error });
  }
}

/** What is known of a line that the run has no record of: it was not among its seeds, or hasn't come to its turn. */
function withoutRecord({ url }: ListLine): TableRecord {
  return 'mark' in url ? { outcome: 'failed', reason: 'malformed' } : { outcome: 'unknown', reason: 'no_record' };
}
