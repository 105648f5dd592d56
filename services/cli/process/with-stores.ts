import { connectStores, type Stores } from '../../../shared/backends/backends.ts';
import { hasLocalRuns, type LocalStores, openLocalStores } from '../../../shared/backends/embedded.ts';
import { StorageError } from '../../../shared/runtime/errors.ts';
import type { Context } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';

/** Whose stores a command looks at. */
export interface Whose {
  /** Those of the crawls on this machine, whose records are in OUTPUT_DIR. */
  readonly local?: boolean;
  /** A run: if a local crawl has this id, it is meant. */
  readonly run?: string | undefined;
}

/** The flag by which a command looks at local crawls. */
export const LOCAL_FLAG = ['--local', 'of crawls on this machine (default for a run that is one)'] as const;

type AnyStores = Stores & Partial<Pick<LocalStores, 'finishCancelled'>>;

/** Runs an action with the stores of the fleet at hand, or with those of this machine. */
export async function withStores(
  context: Context,
  name: string,
  whose: Whose,
  action: (stores: AnyStores) => Promise<number>,
): Promise<number> {
  const stores = (await findLocal(context, whose)) ?? (await connectStores({ ...context, name }));
  try {
    return await action(stores);
  } finally {
    stores.close();
  }
}

async function findLocal({ settings }: Context, { local = false, run }: Whose): Promise<LocalStores | undefined> {
  if (!hasLocalRuns(settings)) {
    if (!local) return undefined;
    throw new StorageError(`no crawl has left anything in ${settings.outputDir} (OUTPUT_DIR, --output-dir)`);
  }
  if (!local && run === undefined) return undefined;
  const stores = await openLocalStores(settings);
  if (local || (run !== undefined && (await stores.runs.standing(run)) !== undefined)) return stores;
  stores.close();
  return undefined;
}

/** Says that a run is not known. */
export function sayUnknownRun(run: string, local = false): 1 {
  if (local) say(`trawl: no crawl ${run} is known here; trawl status --local lists those that are`);
  else say(`trawl: no run ${run} is known to this Redis; trawl status lists those that are`);
  return 1;
}

/** Prints what a command came to: a document for scripts, or lines for people. */
export function tell({ json }: Context, document: object, lines: readonly string[]): void {
  if (json) printJson(document);
  else print(lines);
}
