import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Servers } from './servers.ts';

const RABBITMQ_PROGRAMS = [
  '/usr/lib/rabbitmq/bin/rabbitmq-server',
  '/usr/local/sbin/rabbitmq-server',
  '/opt/homebrew/sbin/rabbitmq-server',
];

/** Where the two server programs are, or nothing if one is missing. */
export function findPrograms(): { readonly rabbitmq: string; readonly redis: string } | undefined {
  const rabbitmq = RABBITMQ_PROGRAMS.find((path) => existsSync(path)) ?? which('rabbitmq-server');
  const redis = which('redis-server');
  return rabbitmq === undefined || redis === undefined ? undefined : { rabbitmq, redis };
}

/** Starts both programs privately: free ports, data and logs in a temporary folder, nothing left behind. */
export async function startPrograms(programs: { readonly rabbitmq: string; readonly redis: string }): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-test-'));
  const children: ChildProcess[] = [];
  const [amqpPort, distPort, epmdPort, redisPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(stopChild));
    if (which('epmd') !== undefined) tryRun('epmd', ['-port', String(epmdPort), '-kill']);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await mkdir(join(folder, 'redis'));
    children.push(
      spawn(
        programs.redis,
        ['--port', String(redisPort), '--save', '', '--appendonly', 'yes', '--dir', join(folder, 'redis')],
        {
          stdio: 'ignore',
        },
      ),
    );
    await writeFile(join(folder, 'rabbitmq.conf'), 'raft.wal_max_size_bytes = 64000000\nlog.file.level = warning\n');
    await writeFile(join(folder, 'enabled_plugins'), '[].\n');
    children.push(
      spawn(programs.rabbitmq, [], {
        stdio: 'ignore',
        detached: true,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          ERL_EPMD_PORT: String(epmdPort),
          RABBITMQ_NODENAME: `trawl-${process.pid}@localhost`,
          RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
          RABBITMQ_NODE_PORT: String(amqpPort),
          RABBITMQ_DIST_PORT: String(distPort),
          RABBITMQ_MNESIA_BASE: join(folder, 'rabbitmq'),
          RABBITMQ_LOG_BASE: join(folder, 'log'),
          RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
          RABBITMQ_PID_FILE: join(folder, 'rabbitmq.pid'),
          RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
        },
      }),
    );
  } catch (error: unknown) {
    await stop();
    throw error;
  }
  return {
    rung: 'programs',
    rabbitmqUrl: `amqp://guest:guest@127.0.0.1:${amqpPort}`,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    stop,
  };
}

/** Starts one Redis with settings of its own, given as for `redis-server`; it keeps nothing on disk. */
export async function startRedis(
  program: string,
  settings: readonly string[],
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(program, ['--port', String(port), '--save', '', '--dir', tmpdir(), ...settings], {
    stdio: 'ignore',
  });
  return { url: `redis://127.0.0.1:${port}`, stop: () => stopChild(child) };
}

/** A TCP port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  return address.port;
}

export function which(program: string): string | undefined {
  return tryRun('sh', ['-c', `command -v ${program}`])?.trim() || undefined;
}

export function tryRun(program: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const signal = (name: NodeJS.Signals): void => {
    try {
      // RabbitMQ is a shell script with the broker under it: the whole group goes.
      process.kill(child.spawnargs[0]?.includes('rabbitmq') ? -(child.pid ?? 0) : (child.pid ?? 0), name);
    } catch {
      // It has ended meanwhile.
    }
  };
  signal('SIGTERM');
  const timer = setTimeout(() => signal('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}
