import type { Command } from 'commander';
import { counted } from '../../../shared/control/format.ts';
import { readRunId } from '../../../shared/control/run-id.ts';
import { steerFleet } from '../../../shared/control/steering/fleet-steering.ts';
import { BY_HAND, steer } from '../../../shared/control/steering/steering.ts';
import type { SteerVerb } from '../../../shared/control/steering/steering-outcome.ts';
import { InterruptedError, UsageError } from '../../../shared/runtime/errors.ts';
import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import {
  type AnyStores,
  addLocalOption,
  byPlace,
  isLocalOf,
  sayUnknownRun,
  tell,
  withStores,
} from '../process/with-stores.ts';
import { withTally } from '../text/tally-line.ts';
import { pauseHost, resumeHost } from './host-steering.ts';

interface SteerOptions {
  readonly host?: string;
  readonly all?: boolean;
  readonly reason?: string;
  readonly local?: boolean;
}

/** Makes a command that steers runs, such as `trawl cancel RUN…`. `pause` and `resume` can also steer a host, or all open runs. */
export function steeringCommand(verb: SteerVerb): CommandModule {
  return { define: (command, exit) => define(verb, command, exit) };
}

function define(verb: SteerVerb, command: Command, exit: (code: number) => void): void {
  addLocalOption(addCommonOptions(command, ['fleet', 'output']));
  command.argument(isForHosts(verb) ? '[run...]' : '<run...>', 'run ids');
  if (isForHosts(verb))
    command.option('--host <host>', 'a host, across all runs: example.com').option('--all', 'all open runs');
  if (verb === 'pause') command.option('--reason <text>', 'the reason, shown with the pause', BY_HAND);
  command.action(async (runs: readonly string[], options: SteerOptions) => {
    exit(await withContext(options, { logLevel: 'warn' }, (context) => steerAny(verb, runs, options, context)));
  });
}

function isForHosts(verb: SteerVerb): boolean {
  return verb === 'pause' || verb === 'resume';
}

async function steerAny(
  verb: SteerVerb,
  runs: readonly string[],
  { host, all, reason = BY_HAND, local }: SteerOptions,
  context: Context,
): Promise<number> {
  if ([runs[0], host, all].filter((given) => given !== undefined).length !== 1)
    throw new UsageError(
      `expected either run ids, a host or --all: ${TRAWL} ${verb} RUN, ${TRAWL} ${verb} --host HOST, ${TRAWL} ${verb} --all`,
    );
  if (all === true) return await steerAll(verb === 'pause' ? verb : 'resume', reason, local, context);
  if (host !== undefined) {
    return await (verb === 'pause'
      ? pauseHost(host, reason, context, { local })
      : resumeHost(host, context, { local }));
  }
  const named = runs.find((run) => run.includes('.'));
  if (named !== undefined && isForHosts(verb)) {
    throw new UsageError(
      `expected a run id, got ${JSON.stringify(named)}: for a host, ${TRAWL} ${verb} --host ${quoted(named)}`,
    );
  }
  const ids = [...new Set(runs.map(readRunId))];
  let code = 0;
  for (const group of await byPlace(context, { local, runs: ids })) {
    const ended = await withStores(context, `trawl ${verb}`, { local, run: group[0] }, (stores) =>
      steerRuns(group, { verb, reason, local }, stores, context),
    );
    code = Math.max(code, ended);
  }
  return code;
}

/** Steers the runs that the stores know, and reports the others. */
async function steerRuns(
  ids: readonly string[],
  { verb, reason, local }: { readonly verb: SteerVerb; readonly reason: string; readonly local: boolean | undefined },
  stores: AnyStores,
  context: Context,
): Promise<number> {
  let code = 0;
  for (const id of ids) {
    const steered = await withTally(context, { what: 'waiting URLs dropped' }, (tally) =>
      steer(verb, id, reason, stores, (more, waited) => {
        if (context.signal?.aborted) throw new InterruptedError(`interrupted: ${whatIsLeft(id)}`);
        tally.add(more, waited);
      }),
    );
    if (steered === undefined) code = Math.max(code, sayUnknownRun(id, local));
    else {
      tell(context, steered.document, [steered.sentence]);
      code = Math.max(code, steered.code);
    }
  }
  return code;
}

function whatIsLeft(run: string): string {
  return `run ${run} is cancelled, but not all of its waiting URLs are dropped yet: run the same command again`;
}

async function steerAll(
  verb: 'pause' | 'resume',
  reason: string,
  local: boolean | undefined,
  context: Context,
): Promise<number> {
  return await withStores(context, `trawl ${verb}`, { local }, async (stores) => {
    const steered = await steerFleet(verb, reason, stores);
    const what = counted(steered.runs.length, 'open run');
    const flag = isLocalOf(stores) ? ' --local' : '';
    const sentence =
      verb === 'pause'
        ? `${what}: paused. Resume with: ${TRAWL} resume --all${flag}`
        : `${what}: running. Paused hosts stay paused.`;
    tell(context, steered, [steered.runs.length === 0 ? `No run is open: there is nothing to ${verb}.` : sentence]);
    return 0;
  });
}
