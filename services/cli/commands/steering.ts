import type { Command } from 'commander';
import { counted } from '../../../shared/control/format.ts';
import { readRunId } from '../../../shared/control/run-id.ts';
import { steerFleet } from '../../../shared/control/steering/fleet-steering.ts';
import { BY_HAND, steer } from '../../../shared/control/steering/steering.ts';
import type { SteerVerb } from '../../../shared/control/steering/steering-outcome.ts';
import { InterruptedError, UsageError } from '../../../shared/runtime/errors.ts';
import { quoted, TRAWL } from '../../../shared/runtime/started-as.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { addLocalOption, sayUnknownRun, tell, withStores } from '../process/with-stores.ts';
import { withTally } from '../text/tally-line.ts';
import { pauseHost, resumeHost } from './host-steering.ts';

interface SteerOptions {
  readonly host?: string;
  readonly all?: boolean;
  readonly reason?: string;
  readonly local?: boolean;
}

/** A command that steers one run, as `trawl cancel RUN`; `pause` and `resume` steer a host as well, or all runs. */
export function steeringCommand(verb: SteerVerb): CommandModule {
  return { define: (command, exit) => define(verb, command, exit) };
}

function define(verb: SteerVerb, command: Command, exit: (code: number) => void): void {
  addLocalOption(addCommonOptions(command, ['fleet', 'output']));
  command.argument(isForHosts(verb) ? '[run]' : '<run>', 'a run id');
  if (isForHosts(verb))
    command
      .option('--host <host>', 'a host instead of a run, for all runs: example.com')
      .option('--all', 'all open runs');
  if (verb === 'pause') command.option('--reason <text>', 'shown wherever the pause is', BY_HAND);
  command.action(async (run: string | undefined, options: SteerOptions) => {
    exit(await withContext(options, { logLevel: 'warn' }, (context) => steerAny(verb, run, options, context)));
  });
}

function isForHosts(verb: SteerVerb): boolean {
  return verb === 'pause' || verb === 'resume';
}

async function steerAny(
  verb: SteerVerb,
  run: string | undefined,
  { host, all, reason = BY_HAND, local }: SteerOptions,
  context: Context,
): Promise<number> {
  if ([run, host, all].filter((given) => given !== undefined).length !== 1)
    throw new UsageError(
      `expected a run, a host or --all, one of them: ${TRAWL} ${verb} RUN, ${TRAWL} ${verb} --host HOST, ${TRAWL} ${verb} --all`,
    );
  if (all === true) return await steerAll(verb === 'pause' ? verb : 'resume', reason, local, context);
  if (host !== undefined) {
    return await (verb === 'pause'
      ? pauseHost(host, reason, context, { local })
      : resumeHost(host, context, { local }));
  }
  if (run?.includes('.') && isForHosts(verb)) {
    throw new UsageError(
      `expected a run id, got ${JSON.stringify(run)}: for a host, ${TRAWL} ${verb} --host ${quoted(run)}`,
    );
  }
  const id = readRunId(run ?? '');
  return await withStores(context, `trawl ${verb}`, { local, run: id }, async (stores) => {
    const steered = await withTally(context, { what: 'waiting URLs dropped' }, (tally) =>
      steer(verb, id, reason, stores, (more, waited) => {
        if (context.signal?.aborted) throw new InterruptedError(`interrupted: ${whatIsLeft(id)}`);
        tally.add(more, waited);
      }),
    );
    if (steered === undefined) return sayUnknownRun(id, local);
    const { code, sentence, document } = steered;
    tell(context, document, [sentence]);
    return code;
  });
}

function whatIsLeft(run: string): string {
  return `run ${run} is cancelled, and what still waits is yet to be dropped: run the same command again`;
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
    const sentence =
      verb === 'pause'
        ? `${what}: paused. Resume with: ${TRAWL} resume --all`
        : `${what}: running. Paused hosts stay so.`;
    tell(context, steered, [steered.runs.length === 0 ? `No run is open: there is nothing to ${verb}.` : sentence]);
    return 0;
  });
}
