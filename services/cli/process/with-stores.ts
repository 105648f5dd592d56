import { connectStores, type Stores } from '../../../shared/backends/backends.ts';
import type { Context } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';

/** Runs an action with the stores of the fleet at hand. */
export async function withStores(
  context: Context,
  name: string,
  action: (stores: Stores) => Promise<number>,
): Promise<number> {
  const stores = await connectStores({ ...context, name });
  try {
    return await action(stores);
  } finally {
    stores.close();
  }
}

/** Says that Redis doesn't know a run. */
export function sayUnknownRun(run: string): 1 {
  say(`trawl: no run ${run} is known to this Redis; trawl status lists those that are`);
  return 1;
}

/** Prints what a command came to: a document for scripts, or lines for people. */
export function tell({ json }: Context, document: object, lines: readonly string[]): void {
  if (json) printJson(document);
  else print(lines);
}
