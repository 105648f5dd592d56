import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../../shared/runtime/errors.ts';
import { say } from '../text/output.ts';
import { type KeptPage, type Told, UNDER_WATCH } from './under-watch.ts';

/** Time to wait after an event: one save can cause several, with the file missing or empty in between. */
const SETTLES_MS = 100;

/**
 * Runs this same command again in a new process whenever one of its files is saved, until `signal` is aborted. Each process imports the
 * crawler afresh, and can fail or get stuck without harm. The page is fetched only once, by the first process that succeeds.
 *
 * @param files the files watched from the beginning. Files that the crawler imports are added.
 */
export async function watchTrials(files: readonly string[], signal: AbortSignal): Promise<never> {
  const saves = new Saves(files);
  let page: KeptPage | undefined;
  try {
    for (let saved = saves.next(); ; ) {
      const over = new AbortController();
      const ended = runOnce(page, AbortSignal.any([signal, over.signal]), (told) => {
        page ??= told.page;
        saves.add(told.files ?? []);
      }).then(
        (code) => (code === 0 ? '' : 'It failed. '),
        (error: unknown) => `It could not be started: ${messageOf(error)}. `,
      );
      void ended.then((failure) => {
        if (!over.signal.aborted && !signal.aborted) say(`${failure}Watching for saves; Ctrl-C to stop.`);
      });
      const name = await untilAborted(saved, signal);
      saved = saves.next();
      over.abort();
      await ended;
      say('', `${name} was saved:`);
    }
  } finally {
    saves.close();
  }
}

/** Runs one trial and returns its exit code. Rejects if its process can't be started. */
async function runOnce(
  page: KeptPage | undefined,
  signal: AbortSignal,
  onTold: (told: Told) => void,
): Promise<number | null> {
  const [, program = '', ...args] = process.argv;
  const child = fork(program, [...args, UNDER_WATCH], { serialization: 'advanced' });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  child.on('message', onTold);
  child.send({ page: page ?? null }, () => {});
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Notices when files are saved. Watches their folders, since editors save a file by replacing it. */
class Saves {
  readonly #files = new Set<string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #wake: ((name: string) => void) | undefined;

  constructor(files: readonly string[]) {
    this.add(files);
  }

  add(files: readonly string[]): void {
    for (const file of files) {
      this.#files.add(file);
      const folder = dirname(file);
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, (_, name) => {
        if (name !== null && this.#files.has(`${folder}/${name}`)) this.#wake?.(name);
      });
      // A removed folder can't be watched any more; the others can.
      watcher.on('error', () => {});
      this.#watchers.set(folder, watcher);
    }
  }

  /** Resolves with the name of the next file saved after this call. */
  async next(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    let name = '';
    let timer: NodeJS.Timeout | undefined;
    this.#wake = (saved) => {
      name ||= saved;
      clearTimeout(timer);
      timer = setTimeout(() => resolve(name), SETTLES_MS);
    };
    return await promise;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }
}
