import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, codeOf, messageOf } from '../../../shared/runtime/errors.ts';
import { makeOutputFolder } from '../../../shared/runtime/files/output-folder.ts';

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
  /** When the store was first found not to know the run. Epoch milliseconds. */
  lostAt: z.number().optional(),
});

/** A webhook of a run and the state of its delivery. `waiting`: the run has not ended. `failed`: given up. */
export type KeptHook = z.infer<typeof hookSchema>;

/**
 * The file of webhooks that this API delivers, so that a restart forgets none: `webhooks.json` in the output folder. A local API, whose
 * store knows other runs, has `webhooks-local.json`. Only its owner can read the file. Entries of other API processes on the same folder
 * are kept.
 */
export class HookFile {
  readonly #folder: string;
  readonly #name: string;
  /** Path of the temporary file. Its name is random: containers that share the folder can have the same process id. */
  readonly #beside: string;
  #writing: Promise<void> = Promise.resolve();
  /** Ids of the webhooks in the file that belong to this process. */
  #own: ReadonlySet<string> = new Set();
  /** Webhooks of other processes, and the version of the file that they were last written to. */
  #others: { readonly hooks: readonly KeptHook[]; readonly file: string | undefined } | undefined;

  constructor(folder: string, { isLocal = false }: { readonly isLocal?: boolean } = {}) {
    this.#folder = folder;
    this.#name = isLocal ? 'webhooks-local.json' : 'webhooks.json';
    this.#beside = `${this.#path}.${randomBytes(4).toString('hex')}`;
  }

  /** @throws ConfigurationError if the file can't be read */
  async read(): Promise<KeptHook[]> {
    const hooks = await this.#read();
    this.#own = new Set(hooks.map(({ id }) => id));
    return hooks;
  }

  /** Replaces the webhooks of this process. Resolves once they are written. */
  async write(hooks: readonly KeptHook[]): Promise<void> {
    const texts = hooks.map((hook) => JSON.stringify(hook));
    const own = new Set(hooks.map(({ id }) => id));
    const writing = this.#writing.then(async () => {
      makeOutputFolder(this.#folder);
      const others = await this.#othersThan(own);
      const all = `[${[...others.map((hook) => JSON.stringify(hook)), ...texts].join(',')}]`;
      // Others who can write to the folder must not get secrets by creating a file of this name first.
      await rm(this.#beside, { force: true });
      await writeFile(this.#beside, all, { mode: 0o600, flag: 'wx' });
      const file = fileAt(this.#beside);
      await rename(this.#beside, this.#path);
      this.#own = own;
      this.#others = { hooks: others, file };
    });
    this.#writing = writing.catch(() => {});
    await writing;
  }

  /** Returns the webhooks of other processes. Reads the file only if another process has written it since. */
  async #othersThan(own: ReadonlySet<string>): Promise<readonly KeptHook[]> {
    if (this.#others !== undefined && this.#others.file === fileAt(this.#path)) return this.#others.hooks;
    // No process writes half a file, so an unreadable one holds no webhooks to keep and is replaced.
    const found = await this.#read().catch(() => []);
    return found.filter(({ id }) => !own.has(id) && !this.#own.has(id));
  }

  async #read(): Promise<KeptHook[]> {
    try {
      return z.array(hookSchema).parse(JSON.parse(await readFile(this.#path, 'utf8')));
    } catch (cause: unknown) {
      if (codeOf(cause) === 'ENOENT') return [];
      const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
      const mend = 'restore it, or remove it, which drops the webhooks that are still waiting';
      throw new ConfigurationError([`${this.#path} can't be read: ${why} (${mend})`], { cause });
    }
  }

  get #path(): string {
    return join(this.#folder, this.#name);
  }
}

/** Returns a text that differs once another file has taken this path, or nothing if there is no file. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs}`;
}
