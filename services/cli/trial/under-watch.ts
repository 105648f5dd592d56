import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import type { Task } from '../../../shared/task/task/task.ts';

/** A page as it was fetched for a trial: the next trials of a watched crawler read the same one. */
export interface KeptPage {
  readonly fetched: FetchedPage;
  /** After its redirects. */
  readonly moved: Pick<Task, 'redirects' | 'host'> | undefined;
}

/** What a trial tells the process that watches it. */
export interface Told {
  readonly files?: readonly string[];
  readonly page?: KeptPage;
}

/** Added to the arguments of a trial that another process watches. */
export const UNDER_WATCH = '--under-watch';

/** The page of an earlier trial; nothing if none has fetched it. */
export async function pageOfEarlier(): Promise<KeptPage | undefined> {
  const [{ page }] = (await once(process, 'message')) as [{ readonly page: KeptPage | null }];
  return page ?? undefined;
}

export function tellWatcher(told: Told): void {
  process.send?.(told);
}

/** Tells of each file that is imported from now on, packages left out. */
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

/** Nothing more will be told: the connection would keep this process alive. */
export function leaveWatcher(): void {
  process.disconnect?.();
}
