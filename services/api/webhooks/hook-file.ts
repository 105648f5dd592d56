import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, codeOf, messageOf } from '../../../shared/runtime/errors.ts';
import { makeOutputFolder } from '../../../shared/runtime/output-folder.ts';

const attemptSchema = z.object({ at: z.string(), status: z.int().nullable(), error: z.string().nullable() });
const hookSchema = z.object({
  id: z.string(),
  run: z.string(),
  url: z.string(),
  secret: z.string(),
  state: z.enum(['waiting', 'delivering', 'delivered', 'failed']),
  attempts: z.array(attemptSchema),
  /** Epoch milliseconds. */
  nextAt: z.number(),
  endedAt: z.number().nullable(),
  /** Since when the store has not known the run. */
  lostAt: z.number().optional(),
});

/** A webhook of a run, and how far its delivery is. `waiting`: the run has not ended. `failed`: given up. */
export type KeptHook = z.infer<typeof hookSchema>;

/** The webhooks that this API delivers, in `webhooks.json` of the output folder: a restart forgets none. Only its owner may read it. */
export class HookFile {
  readonly #folder: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws ConfigurationError if the file can't be read */
  async read(): Promise<KeptHook[]> {
    try {
      return z.array(hookSchema).parse(JSON.parse(await readFile(this.#path, 'utf8')));
    } catch (cause: unknown) {
      if (codeOf(cause) === 'ENOENT') return [];
      const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
      const mend = 'restore it, or remove it: then the webhooks that wait are not delivered';
      throw new ConfigurationError([`${this.#path} can't be read: ${why} (${mend})`], { cause });
    }
  }

  /** Resolves once all are written, in place of those before. */
  async write(hooks: readonly KeptHook[]): Promise<void> {
    const text = JSON.stringify(hooks);
    const writing = this.#writing.then(async () => {
      makeOutputFolder(this.#folder);
      const beside = `${this.#path}.${process.pid}`;
      await writeFile(beside, text, { mode: 0o600 });
      await rename(beside, this.#path);
    });
    this.#writing = writing.catch(() => {});
    await writing;
  }

  get #path(): string {
    return join(this.#folder, 'webhooks.json');
  }
}
