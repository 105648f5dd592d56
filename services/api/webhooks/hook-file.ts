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
  /** Since when the store has not known the run. */
  lostAt: z.number().optional(),
});

/** A webhook of a run, and how far its delivery is. `waiting`: the run has not ended. `failed`: given up. */
export type KeptHook = z.infer<typeof hookSchema>;

/**
 * The webhooks that this API delivers, in `webhooks.json` of the output folder, or `webhooks-local.json` of a local one, whose store knows
 * other runs: a restart forgets none. Only its owner may read it. Those of other processes of the API on this folder stay in it for them.
 */
export class HookFile {
  readonly #folder: string;
  readonly #name: string;
  /** What it is written to first. Not by the process id, which several containers on one folder have in common. */
  readonly #beside: string;
  #writing: Promise<void> = Promise.resolve();
  /** Ids of those in the file that are this process' own. */
  #own: ReadonlySet<string> = new Set();
  /** Those of others, and which file they were last written to. */
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

  /** Resolves once all are written, in place of this process' own before. */
  async write(hooks: readonly KeptHook[]): Promise<void> {
    const texts = hooks.map((hook) => JSON.stringify(hook));
    const own = new Set(hooks.map(({ id }) => id));
    const writing = this.#writing.then(async () => {
      makeOutputFolder(this.#folder);
      const others = await this.#othersThan(own);
      const all = `[${[...others.map((hook) => JSON.stringify(hook)), ...texts].join(',')}]`;
      // Whoever else may write to the folder gets no secret by a file that waits under its name.
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

  /** The hooks of other processes. They are read only if somebody else has written the file since. */
  async #othersThan(own: ReadonlySet<string>): Promise<readonly KeptHook[]> {
    if (this.#others !== undefined && this.#others.file === fileAt(this.#path)) return this.#others.hooks;
    // What can't be read was written by nobody: the file is replaced as a whole.
    const found = await this.#read().catch(() => []);
    return found.filter(({ id }) => !own.has(id) && !this.#own.has(id));
  }

  async #read(): Promise<KeptHook[]> {
    try {
      return z.array(hookSchema).parse(JSON.parse(await readFile(this.#path, 'utf8')));
    } catch (cause: unknown) {
      if (codeOf(cause) === 'ENOENT') return [];
      const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
      const mend = 'restore it, or remove it: then the webhooks that wait are not delivered';
      throw new ConfigurationError([`${this.#path} can't be read: ${why} (${mend})`], { cause });
    }
  }

  get #path(): string {
    return join(this.#folder, this.#name);
  }
}

/** Tells one file from another that takes its name; nothing if there is none. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs}`;
}
