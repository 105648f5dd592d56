import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../../shared/runtime/errors.ts';
import { say } from '../text/output.ts';
import { type KeptPage, type Told, UNDER_WATCH } from './under-watch.ts';

/** One save may be several events, and the file be gone or empty between them. */
const SETTLES_MS = 100;

/**
 * Runs this same command again in a process of its own whenever one of its files is saved, until it is aborted. Each of them
 * imports the crawler anew, and may fail or get stuck as it likes; the page is fetched by the first that can, once.
 *
 * @param files watched from the beginning; those that the crawler imports are added
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
        if (!over.signal.aborted && !signal.aborted) say(`${failure}Watching for saves; Ctrl-C ends it.`);
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

/** Gives the exit code of one trial; rejects if its process can't be started. */
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

/** Notices that files are saved. Their folders are watched, since editors save by putting another file in the place of one. */
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
      // A folder that is gone can't be watched any longer; others can.
      watcher.on('error', () => {});
      this.#watchers.set(folder, watcher);
    }
  }

  /** Resolves with the name of the next file that is saved, from this call on. */
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
