import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Clock } from '../../runtime/clock.ts';
import { numbersFor } from './numbers.ts';
import { usedFunctions } from './used-functions.ts';

/** Where each script is, by its file's name. */
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(join(import.meta.dirname, 'lua'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.lua'))
    .map((entry) => [entry.name, join(entry.parentPath, entry.name)]),
);

/** The names of the scripts: one file each in a folder of `stores/redis/lua`. */
export type ScriptName =
  | 'admit'
  | 'agree'
  | 'producer_beat'
  | 'cache'
  | 'claim'
  | 'drain'
  | 'due'
  | 'fail'
  | 'find'
  | 'forget'
  | 'end_queued'
  | 'gate'
  | 'handed'
  | 'hosts'
  | 'inputs'
  | 'keep_result'
  | 'keep_robots'
  | 'known'
  | 'leave'
  | 'limit_host'
  | 'missing'
  | 'now'
  | 'offer'
  | 'oldest_due'
  | 'open'
  | 'pause_host'
  | 'pause_stuck'
  | 'paused'
  | 'paused_hosts'
  | 'progress'
  | 'queued'
  | 'reap'
  | 'release'
  | 'renew'
  | 'roster'
  | 'run_counts'
  | 'seal'
  | 'sent_late'
  | 'settle'
  | 'slow'
  | 'steer'
  | 'sweep'
  | 'trace'
  | 'unmark'
  | 'unmark_all';

type Argument = string | number | Buffer;

/**
 * Runs the scripts of `stores/redis/lua` on one Redis, with the key prefix first and the time last, as every script expects
 * them. A script that the server has forgotten is sent again.
 */
export class Scripts {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #clock: Pick<Clock, 'now'> | undefined;
  readonly #loaded = new Map<ScriptName, { readonly sha: string; readonly text: string }>();

  /** @param clock left out everywhere but in the contract suite: time is the server's own */
  constructor(redis: Redis, prefix: string, clock?: Pick<Clock, 'now'>) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#clock = clock;
  }

  async run(name: ScriptName, ...args: readonly Argument[]): Promise<unknown> {
    const { sha, text } = this.#script(name);
    const all = [this.#prefix, ...args, this.#clock?.now() ?? '-'];
    try {
      return await this.#redis.evalsha(sha, 0, ...all);
    } catch (error: unknown) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await this.#redis.eval(text, 0, ...all);
    }
  }

  #script(name: ScriptName): { readonly sha: string; readonly text: string } {
    let script = this.#loaded.get(name);
    if (script === undefined) {
      const text = readScript(name);
      script = { sha: hash('sha1', text), text };
      this.#loaded.set(name, script);
    }
    return script;
  }
}

/**
 * The text of a script: its first line, which has to stay the first, its numbers, what all scripts share, what its header says
 * that it needs, and its own body. Creating functions costs a little every time a script runs, so each gets only what it uses:
 * `keep_time.lua` is left out of scripts that only read, and of those whose header says so.
 */
export function readScript(name: ScriptName): string {
  const read = (file: string): string => {
    const path = FILES.get(file);
    if (path === undefined) throw new Error(`no script is named ${file}`);
    return readFileSync(path, 'utf8');
  };
  const text = read(`${name}.lua`);
  const firstLine = text.indexOf('\n') + 1;
  const needed = /^-- Needs {2}(.+)$/m.exec(text)?.[1]?.split(', ') ?? [];
  const flags = text.slice(0, firstLine);
  const keepsTime = !flags.includes('no-writes') && !/^-- Keeps no time/m.test(text);
  const shared = [...['marks.lua', 'pages.lua', 'prelude.lua'], ...(keepsTime ? ['keep_time.lua'] : []), ...needed];
  const own = text.slice(firstLine);
  const body = usedFunctions(shared.map(read).join('\n'), own) + own;
  return flags + numbersFor(body) + body;
}
