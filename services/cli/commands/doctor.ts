import { hostname } from 'node:os';
import type { Command } from 'commander';
import { connectStores } from '../../../shared/backends/backends.ts';
import { counted, duration } from '../../../shared/control/format.ts';
import { findTroubles, once } from '../../process/findings.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from '../command.ts';
import { tell } from '../process/with-stores.ts';

interface DoctorOptions {
  readonly worker?: boolean;
  readonly release?: boolean;
}

/** Runs that may have something queued: all that Redis remembers, up to a limit. */
const MOST_RUNS = 100_000;

/** `trawl doctor`: what is wrong, and how to fix it. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker', 'fleet', 'output'])
      .option('--worker', 'only: is the worker of this machine or container alive and consuming? For health checks')
      .option('--release', 'after RabbitMQ was wiped: lets all that was queued in it wait again, at once')
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

/** For the health check of a container: consuming, with a fresh heartbeat. */
async function checkWorker(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  try {
    const workers = (await stores.roster.workers()).filter(({ host }) => host === hostname());
    const [worker] = workers.sort((a, b) => a.silentMs - b.silentMs);
    const isWell = worker?.state === 'consuming';
    const said =
      worker === undefined
        ? `no live worker on ${hostname()}`
        : `${worker.id} is ${worker.state}, heard ${duration(worker.silentMs)} ago`;
    tell(context, { ok: isWell, worker: worker ?? null }, [said]);
    return isWell ? 0 : 1;
  } finally {
    stores.close();
  }
}

/** Ends every queued lease: without it, they end by themselves, up to an hour and five minutes later. */
async function releaseQueued(context: Context): Promise<number> {
  const stores = await connectStores(once(context));
  let released = 0;
  try {
    for (const run of await stores.runs.listOpen(MOST_RUNS)) {
      let next: string | undefined;
      do {
        const part = await stores.frontier.endQueued(run, next);
        released += part.ended;
        next = part.next;
      } while (next !== undefined);
    }
  } finally {
    stores.close();
  }
  const text = `${counted(released, 'queued URL')} waiting again; deliveries of them that are left will be dropped`;
  tell(context, { released }, [text]);
  return 0;
}
