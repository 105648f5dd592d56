import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import type { Task } from '../../../shared/task/task/task.ts';

/** A page fetched for a trial. Later trials of a watched crawler read the same page. */
export interface KeptPage {
  readonly fetched: FetchedPage;
  /** The task's redirects and host after redirects, if there were any. */
  readonly moved: Pick<Task, 'redirects' | 'host'> | undefined;
}

/** A message from a trial to the process that watches it. */
export interface Told {
  readonly files?: readonly string[];
  readonly page?: KeptPage;
}

/** The flag added to the arguments of a trial that another process watches. */
export const UNDER_WATCH = '--under-watch';

/** Receives the page of an earlier trial; undefined if none has fetched it yet. */
export async function pageOfEarlier(): Promise<KeptPage | undefined> {
  const [{ page }] = (await once(process, 'message')) as [{ readonly page: KeptPage | null }];
  return page ?? undefined;
}

export function tellWatcher(told: Told): void {
  process.send?.(told);
}

/** Reports each file imported from now on, except packages. */
export function tellImports(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (found.url.startsWith('file:') && !found.url.includes('/node_modules/'))
        tellWatcher({ files: [fileURLToPath(found.url)] });
      return found;
    },
  });
}

/** Closes the connection to the watcher, which would keep this process alive. */
export function leaveWatcher(): void {
  process.disconnect?.();
}
