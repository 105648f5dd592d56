import type { Command } from 'commander';
import { connectStores, type Stores } from '../../../shared/backends/backends.ts';
import { hasLocalRuns, type LocalStores, openLocalStores } from '../../../shared/backends/embedded.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { StorageError, UnavailableError } from '../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { Outages } from '../../process/outages.ts';
import type { Context } from '../command.ts';
import { type Line, print, printJson, sayFailure } from '../text/output.ts';

/** The choice between the fleet's stores and those of this machine. */
export interface Whose {
  /** `true` for the crawls on this machine, whose records are in OUTPUT_DIR; `false` for the fleet. */
  readonly local?: boolean | undefined;
  /** A run id. If `local` is absent, a crawl on this machine with this id is chosen before the fleet. */
  readonly run?: string | undefined;
}

/** Adds `--local` and `--no-local` to a command. One that takes no run works on the fleet unless told otherwise. */
export function addLocalOption(command: Command, { takesRun = true } = {}): Command {
  const [local, fleet] = takesRun
    ? [' (default if the run is one of them)', ', even if a crawl on this machine has that id']
    : ['', ' (the default)'];
  return command.option('--local', `the crawls on this machine${local}`).option('--no-local', `the fleet${fleet}`);
}

/** The stores of the fleet, or those of this machine, which can do more. */
export type AnyStores = Stores & Partial<Pick<LocalStores, 'finishCancelled' | 'letters'>>;

/** Are these the stores of this machine? */
export function isLocalOf({ letters }: AnyStores): boolean {
  return letters !== undefined;
}

/** Runs an action with the stores of the fleet or of this machine, and closes them. */
export async function withStores(
  context: Context,
  name: string,
  whose: Whose,
  action: (stores: AnyStores) => Promise<number>,
): Promise<number> {
  const events = new Outages(context.log, systemClock);
  const connect = (): Promise<Stores> => connectStores({ ...context, name, events });
  const stores: AnyStores = (await findLocal(context, whose)) ?? (await namingLocal(context, whose, connect));
  try {
    return await action(stores);
  } finally {
    stores.close();
  }
}

/** Connects to the fleet. If that fails and this machine has crawls of its own, the error also says how to look at those. */
export async function namingLocal<T>(context: Context, { local, run }: Whose, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error: unknown) {
    if (!(error instanceof UnavailableError && local === undefined && hasLocalRuns(context.settings))) throw error;
    // A crawl on this machine with this id would have been found before.
    const hint =
      run === undefined
        ? 'For crawls on this machine: the same command with --local'
        : `No crawl on this machine has the id ${run} either: ${TRAWL} status --local lists them`;
    throw new UnavailableError(`${error.message}. ${hint}`, { cause: error });
  }
}

/** Opens the stores of this machine if they are meant, otherwise returns undefined. The caller closes them. */
export async function findLocal(context: Context, { local, run }: Whose): Promise<LocalStores | undefined> {
  const { settings } = context;
  if (local === false || (local === undefined && run === undefined)) return undefined;
  if (!hasLocalRuns(settings)) {
    if (local === undefined) return undefined;
    throw new StorageError(`there are no crawls in ${settings.outputDir} (OUTPUT_DIR, --output-dir)`);
  }
  const stores = await openLocal(context, local);
  try {
    if (local === true || (run !== undefined && (await stores.runs.standing(run)) !== undefined)) return stores;
  } catch (error: unknown) {
    stores.close();
    throw error;
  }
  stores.close();
  return undefined;
}

async function openLocal({ settings }: Context, local: boolean | undefined): Promise<LocalStores> {
  return await openLocalStores(settings).catch((error: unknown) => {
    // Without the local stores, it is unknown whether the run is one of theirs.
    if (local === true || !(error instanceof StorageError)) throw error;
    throw new StorageError(`${error.message}. For a run of the fleet, add --no-local`, { cause: error });
  });
}

/** Groups runs by place. Without a flag, the crawls of this machine form one group and all other runs another. */
export async function byPlace(
  context: Context,
  { local, runs }: { readonly local?: boolean | undefined; readonly runs: readonly string[] },
): Promise<readonly (readonly string[])[]> {
  if (local !== undefined || runs.length < 2 || !hasLocalRuns(context.settings)) return [runs];
  const stores = await openLocal(context, local);
  try {
    const here = new Set<string>();
    for (const run of runs) if ((await stores.runs.standing(run)) !== undefined) here.add(run);
    return [[...here], runs.filter((run) => !here.has(run))].filter((group) => group.length > 0);
  } finally {
    stores.close();
  }
}

/** Reports that a run is not known, and returns the exit code. */
export function sayUnknownRun(run: string, local?: boolean): 1 {
  if (local === true) sayFailure(`no crawl ${run} is known here; ${TRAWL} status --local lists the known ones`);
  else sayFailure(`no run ${run} is known to this Redis; ${TRAWL} status lists the known ones`);
  return 1;
}

/** Prints a command's result: a document for scripts, or lines for people. */
export function tell({ json }: Context, document: object, lines: readonly Line[]): void {
  if (json) printJson(document);
  else print(lines);
}
