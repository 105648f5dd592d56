import { hostname } from 'node:os';
import type { Command } from 'commander';
import { connectStores } from '../../../shared/backends/backends.ts';
import { counted, duration } from '../../../shared/control/format.ts';
import { findTroubles, once } from '../../process/findings.ts';
import { endQueued } from '../../process/lost-deliveries.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { tell } from '../process/with-stores.ts';

interface DoctorOptions {
  readonly worker?: boolean;
  readonly release?: boolean;
}

/** Maximum number of open runs whose queued URLs are released. */
const MOST_RUNS = 100_000;

/** `trawl doctor`: finds what is wrong, and says how to fix it. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'fleet', 'output'])
      .option(
        '--worker',
        'only check that the worker of this machine or container is alive and consuming, for health checks',
      )
      .option('--release', 'after RabbitMQ was wiped: put the URLs queued in it back to waiting at once')
      .action(async (options: DoctorOptions) => {
        const { worker = false, release = false } = options;
        const action = worker ? checkWorker : release ? releaseQueued : checkAll;
        exit(await withContext(options, { logLevel: 'silent' }, action));
      });
  },
};

async function checkAll(context: Context): Promise<number> {
  const findings = await findTroubles(context);
  const isWell = findings.every(({ state }) => state !== 'problem');
  const lines = findings.map(({ what, state, said }) => `${state.padEnd(8)} ${what}: ${said}`);
  tell(context, { ok: isWell, findings }, lines);
  return isWell ? 0 : 1;
}

/** Checks, for a container's health check, that the worker is consuming and its heartbeat fresh. */
async function checkWorker(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  try {
    const workers = (await stores.roster.workers()).filter(({ host }) => host === hostname());
    const [worker] = workers.sort((a, b) => a.silentMs - b.silentMs);
    const isWell = worker?.state === 'consuming';
    const said =
      worker === undefined
        ? `no live worker on ${hostname()}`
        : `${worker.id} is ${worker.state}, last heartbeat ${duration(worker.silentMs)} ago`;
    tell(context, { ok: isWell, worker: worker ?? null }, [said]);
    return isWell ? 0 : 1;
  } finally {
    stores.close();
  }
}

/** Ends the lease of every queued task at once. Workers do so by themselves only once they have had nothing to do for a while. */
async function releaseQueued(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  let released = 0;
  try {
    for (const run of await stores.runs.listOpen(MOST_RUNS)) released += await endQueued(stores.frontier, run);
  } finally {
    stores.close();
  }
  const text = `${counted(released, 'queued URL')} waiting again; any of their deliveries that are left will be dropped`;
  tell(context, { released }, [text]);
  return 0;
}
