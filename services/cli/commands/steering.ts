import type { Command } from 'commander';
import type { Stores } from '../../../shared/backends/backends.ts';
import { type SteerVerb, steeringOutcome } from '../../../shared/control/steering-outcome.ts';
import type { Steered } from '../../../shared/ports/runs.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { addCommonOptions, type Context, withContext } from '../command.ts';
import { readRunId } from '../process/run-id.ts';
import { addLocalOption, sayUnknownRun, tell, withStores } from '../process/with-stores.ts';
import { pauseHost, resumeHost } from './host-steering.ts';

interface SteerOptions {
  readonly host?: string;
  readonly reason?: string;
  readonly local?: boolean;
}

/** The default reason of a pause. */
const BY_HAND = 'by hand';

/** Defines a command that steers one run; `pause` and `resume` steer a host as well. */
export function defineSteering(verb: SteerVerb, command: Command, exit: (code: number) => void): void {
  addLocalOption(addCommonOptions(command, ['fleet', 'output']));
  const isForHosts = verb === 'pause' || verb === 'resume';
  command.argument(isForHosts ? '[run]' : '<run>', 'a run id');
  if (isForHosts) command.option('--host <host>', 'a host instead of a run, for all runs: example.com');
  if (verb === 'pause') command.option('--reason <text>', 'shown wherever the pause is', BY_HAND);
  command.action(async (run: string | undefined, options: SteerOptions) => {
    exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => steer(verb, run, options, context)));
  });
}

async function steer(
  verb: SteerVerb,
  run: string | undefined,
  { host, reason = BY_HAND, local }: SteerOptions,
  context: Context,
): Promise<number> {
  if ((run === undefined) === (host === undefined))
    throw new UsageError(`name a run, or a host with --host: trawl ${verb} RUN, trawl ${verb} --host HOST`);
  if (host !== undefined) {
    return await (verb === 'pause'
      ? pauseHost(host, reason, context, { local })
      : resumeHost(host, context, { local }));
  }
  const id = readRunId(run ?? '');
  return await withStores(context, `trawl ${verb}`, { local, run: id }, async (stores) => {
    const before = await stores.runs.progress(id);
    const steered = await steerRun(verb, id, reason, stores);
    // Only dropping the waiting tasks takes long; workers help.
    if (verb === 'cancel') {
      while ((await stores.frontier.drain()) > 0);
      await stores.finishCancelled?.(id);
    }
    const after = await stores.runs.progress(id);
    if (before === undefined || steered === undefined || after === undefined) return sayUnknownRun(id, local);
    const { code, sentence } = steeringOutcome(verb, steered, before, after);
    const { waiting, inFlight, cancelled, sealed, pauseReason = null } = after;
    const { was, is } = steered;
    const document = { run: id, was, is, wasSealed: before.sealed, sealed, waiting, inFlight, cancelled, pauseReason };
    tell(context, document, [sentence]);
    return code;
  });
}

function steerRun(verb: SteerVerb, run: string, reason: string, { runs }: Stores): Promise<Steered | undefined> {
  switch (verb) {
    case 'pause':
      return runs.pause(run, reason);
    case 'resume':
      return runs.resume(run);
    case 'cancel':
      return runs.cancel(run);
    case 'seal':
      return runs.seal(run);
  }
}
