import { join } from 'node:path';
import { codeOf } from '../../shared/runtime/errors.ts';
import { type LastLine, lastLinesOf } from '../../shared/runtime/files/last-lines.ts';
import { LineFile } from '../../shared/runtime/files/line-file.ts';
import { makeOutputFolder } from '../../shared/runtime/files/output-folder.ts';

/** A change: who made it, to what, and why. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  /** The token's name. */
  readonly by: string;
  readonly role: string;
  /** The action, such as `pause run`. */
  readonly action: string;
  /** The run, host or filter that it was done to. */
  readonly target: string;
  /** The reason that the caller gave. */
  readonly reason: string | null;
}

const FILE = 'audit.jsonl';

/** Every change made over HTTP, one line each, in `audit.jsonl` of the output folder. Nothing is ever removed from it. */
export class Audit {
  readonly #folder: string;
  readonly #file: LineFile;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = new LineFile(join(folder, FILE), { mode: 0o600 });
  }

  /** Resolves once the entry is written. */
  async note(entry: AuditEntry): Promise<void> {
    makeOutputFolder(this.#folder);
    await this.#file.append(`${JSON.stringify(entry)}\n`);
  }

  /**
   * Returns entries, newest first, and a cursor for older ones, or null if there are none. Entries added in the meantime shift nothing.
   *
   * @param before `next` of the previous answer; 0 for the first
   */
  async newest(
    limit: number,
    before: number,
  ): Promise<{ readonly entries: AuditEntry[]; readonly next: number | null }> {
    const lines: LastLine[] = [];
    try {
      for await (const line of lastLinesOf(join(this.#folder, FILE), { before: before || undefined })) {
        if (lines.length === limit) return { entries: lines.flatMap(entryOf), next: lines.at(-1)?.at ?? null };
        lines.push(line);
      }
    } catch (error: unknown) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    return { entries: lines.flatMap(entryOf), next: null };
  }

  async stop(): Promise<void> {
    await this.#file.close();
  }
}

function entryOf({ line }: LastLine): AuditEntry[] {
  try {
    return [JSON.parse(line) as AuditEntry];
  } catch {
    // A line cut short by a crash.
    return [];
  }
}
