import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateServers } from '../../test/support/servers/programs.ts';

/** The servers and processes that a soak can break. */
export interface Breakable {
  readonly servers: PrivateServers;
  readonly workers: readonly ChildProcess[];
  /** The producers running now. */
  readonly producers: ReadonlySet<ChildProcess>;
}

interface Fault {
  readonly name: string;
  /** Causes the fault. Resolves when it is over. */
  readonly happen: (what: Breakable, random: () => number) => Promise<void>;
}

const STILL_MS = 8_000;

/** Faults that workers must survive. No worker is killed, since their processes are the ones measured. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'the broker is restarted',
    happen: async ({ servers }) => {
      await servers.rabbitmq.ctl('stop_app');
      await servers.rabbitmq.ctl('start_app');
    },
  },
  {
    name: 'the broker closes all connections',
    happen: async ({ servers }) => void (await servers.rabbitmq.ctl('close_all_connections', 'soak')),
  },
  {
    name: 'Redis is killed',
    happen: async ({ servers }) => {
      await servers.redis.kill();
      await servers.redis.start();
    },
  },
  {
    name: 'a worker is suspended',
    happen: async ({ workers }, random) => {
      const worker = one(workers, random);
      worker?.kill('SIGSTOP');
      await sleep(STILL_MS);
      worker?.kill('SIGCONT');
    },
  },
  {
    name: 'a producer is killed',
    happen: async ({ producers }, random) => void one([...producers], random)?.kill('SIGKILL'),
  },
];

export function one<T>(of: readonly T[], random: () => number): T | undefined {
  return of[Math.floor(random() * of.length)];
}
