import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../../runtime/clock.ts';
import { atEndOfTurn } from '../../runtime/end-of-turn.ts';
import { messageOf } from '../../runtime/errors.ts';
import { TRAWL } from '../../runtime/started-as.ts';
import { NO_RIGHTS } from './rights/commands.ts';
import { lackingRights, missingCommands } from './rights/least-rights.ts';
import { joinScripts, readScript, type ScriptName } from './script-text.ts';

/** Redis' answer to a script that checks or calls a command that its configuration has renamed or disabled. */
const UNKNOWN = /^ERR (?:Invalid command passed to redis\.acl_check_cmd|Unknown Redis command)/;

type Argument = string | number | Buffer;

interface Script {
  readonly sha: string;
  readonly text: string;
}

/** A call that goes to Redis together with others. */
interface Call {
  readonly name: ScriptName;
  readonly args: readonly Argument[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What every part of a Redis store works with. */
export interface RedisStoreOptions {
  readonly redis: Redis;
  /** The prefix of every key. */
  readonly prefix: string;
  /** Only the contract suite sets it; by default, time is the server's own. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

interface ScriptsOptions extends RedisStoreOptions {
  /** Scripts that run several times per page: their calls in one turn go to Redis as one. */
  readonly joined?: readonly ScriptName[];
}

/** Scripts read so far. The files don't change while a process runs, and all its stores share them. */
const READ = new Map<string, Script>();

/** Maximum number of calls in one script: settling this many pages holds Redis for a millisecond or two. */
const MOST_TOGETHER = 16;

/**
 * Runs the scripts of `stores/redis/lua` on one Redis, with the key prefix first and the time last, as every script expects
 * them. A script that the server has forgotten is sent again.
 *
 * Calls of joined scripts in one turn of the event loop run as one script, in their order; a busy worker makes about eight a turn.
 * Half the time of a short script is its beginning: it reads its arguments and the time, and creates its functions. For 50,000 pages
 * of 2,000 hosts and two workers, Redis took 6.2 s of CPU time, and 8.0 s with one script per call. A call that fails stops no other.
 */
export class Scripts {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #clock: ScriptsOptions['clock'];
  readonly #joined: readonly ScriptName[];
  #calls: Call[] = [];

  constructor({ redis, prefix, clock, joined = [] }: ScriptsOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#joined = joined;
  }

  async run(name: ScriptName, ...args: readonly Argument[]): Promise<unknown> {
    if (this.#joined.includes(name)) return await this.#join(name, args);
    // Earlier calls go first.
    this.#flush();
    return await this.#send(this.#script(name), args);
  }

  #join(name: ScriptName, args: readonly Argument[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#calls.length === 0) atEndOfTurn('write', () => this.#flush());
      this.#calls.push({ name, args, resolve, reject });
      if (this.#calls.length === MOST_TOGETHER) this.#flush();
    });
  }

  #flush(): void {
    const calls = this.#calls;
    const [first] = calls;
    if (first === undefined) return;
    this.#calls = [];
    if (calls.length === 1) this.#send(this.#script(first.name), first.args).then(first.resolve, first.reject);
    else void this.#sendAll(calls);
  }

  async #sendAll(calls: readonly Call[]): Promise<void> {
    try {
      const args = calls.flatMap(({ name, args }) => [name, args.length, ...args]);
      const replies = (await this.#send(this.#script('joined'), args)) as readonly unknown[];
      for (const [at, { resolve, reject }] of calls.entries()) {
        const reply = replies[at];
        if (reply instanceof Error) reject(reply);
        else resolve(reply);
      }
    } catch (error: unknown) {
      for (const { reject } of calls) reject(error);
    }
  }

  async #send(script: Script, args: readonly Argument[]): Promise<unknown> {
    try {
      return await this.#evaluate(script, [this.#prefix, ...args, this.#clock?.now() ?? '-']);
    } catch (error: unknown) {
      const reason = messageOf(error);
      if (UNKNOWN.test(reason)) throw missingCommands(` (${TRAWL} doctor names them)`);
      if (reason.startsWith(NO_RIGHTS)) throw lackingRights(this.#prefix, reason.slice(NO_RIGHTS.length + 1));
      throw error;
    }
  }

  async #evaluate({ sha, text }: Script, args: Argument[]): Promise<unknown> {
    try {
      return await this.#redis.evalsha(sha, 0, ...args);
    } catch (error: unknown) {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
      return await this.#redis.eval(text, 0, ...args);
    }
  }

  #script(name: ScriptName | 'joined'): Script {
    const key = name === 'joined' ? this.#joined.join() : name;
    let script = READ.get(key);
    if (script === undefined) {
      const text = name === 'joined' ? joinScripts(this.#joined) : readScript(name);
      script = { sha: hash('sha1', text), text };
      READ.set(key, script);
    }
    return script;
  }
}
