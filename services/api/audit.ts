import { join } from 'node:path';
import { codeOf } from '../../shared/runtime/errors.ts';
import { type LastLine, lastLinesOf } from '../../shared/runtime/files/last-lines.ts';
import { LineFile } from '../../shared/runtime/files/line-file.ts';
import { makeOutputFolder } from '../../shared/runtime/files/output-folder.ts';

/** Who did what. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  /** The token's name. */
  readonly by: string;
  readonly role: string;
  /** What was done: `pause run`. */
  readonly action: string;
  /** To what: a run, a host, a filter. */
  readonly target: string;
  /** In the words of whoever did it. */
  readonly reason: string | null;
}

const FILE = 'audit.jsonl';

/** Every change made over HTTP, a line each, in `audit.jsonl` of the output folder. Nothing is ever taken out of it. */
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
   * The newest entries, newest first, and where those before them end; nothing if there are none. Entries that come meanwhile shift none.
   *
   * @param before `next` of the answer before; 0 for the first
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
    // Torn by a crash.
    return [];
  }
}
