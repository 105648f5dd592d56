import type { Command } from 'commander';
import { connectStores, type Stores } from '../../../shared/backends/backends.ts';
import { hasLocalRuns, type LocalStores, openLocalStores } from '../../../shared/backends/embedded.ts';
import { StorageError } from '../../../shared/runtime/errors.ts';
import type { Context } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';

/** Whose stores a command looks at. */
export interface Whose {
  /** Those of the crawls on this machine, whose records are in OUTPUT_DIR; `false`: the fleet's. */
  readonly local?: boolean | undefined;
  /** A run: where nothing is said, and a local crawl has this id, it is meant. */
  readonly run?: string | undefined;
}

/** Lets a command look at local crawls. */
export function addLocalOption(command: Command): Command {
  return command
    .option('--local', 'of crawls on this machine (default for a run that is one)')
    .option('--no-local', 'of the fleet');
}

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

async function findLocal({ settings }: Context, { local, run }: Whose): Promise<LocalStores | undefined> {
  if (local === false || (local === undefined && run === undefined)) return undefined;
  if (!hasLocalRuns(settings)) {
    if (local === undefined) return undefined;
    throw new StorageError(`no crawl has left anything in ${settings.outputDir} (OUTPUT_DIR, --output-dir)`);
  }
  const stores = await openLocalStores(settings);
  if (local === true || (run !== undefined && (await stores.runs.standing(run)) !== undefined)) return stores;
  stores.close();
  return undefined;
}

/** Says that a run is not known. */
export function sayUnknownRun(run: string, local?: boolean): 1 {
  if (local === true) say(`trawl: no crawl ${run} is known here; trawl status --local lists those that are`);
  else say(`trawl: no run ${run} is known to this Redis; trawl status lists those that are`);
  return 1;
}

/** Prints what a command came to: a document for scripts, or lines for people. */
export function tell({ json }: Context, document: object, lines: readonly string[]): void {
  if (json) printJson(document);
  else print(lines);
}
