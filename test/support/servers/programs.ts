import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, which } from './machine.ts';
import { RabbitMqServer } from './rabbitmq-server.ts';
import { RedisServer } from './redis-server.ts';
import type { Servers } from './servers.ts';

const RABBITMQ_PROGRAMS = [
  '/usr/lib/rabbitmq/bin/rabbitmq-server',
  '/usr/local/sbin/rabbitmq-server',
  '/opt/homebrew/sbin/rabbitmq-server',
];

/** Where the two server programs are. */
export interface Programs {
  readonly rabbitmq: string;
  readonly redis: string;
}

/** A RabbitMQ and a Redis that a test may do anything to. */
export interface PrivateServers {
  readonly rabbitmq: RabbitMqServer;
  readonly redis: RedisServer;
  remove(): Promise<void>;
}

/** Finds the two server programs; `undefined` if one is missing. */
export function findPrograms(): Programs | undefined {
  const rabbitmq = RABBITMQ_PROGRAMS.find((path) => existsSync(path)) ?? which('rabbitmq-server');
  const redis = which('redis-server');
  return rabbitmq === undefined || redis === undefined ? undefined : { rabbitmq, redis };
}

/** Prepares both servers, each with its own folder and free ports, without starting them. `remove` stops them and deletes the folders. */
export async function privateServers(programs: Programs): Promise<PrivateServers> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-test-'));
  const [amqpPort, distPort, epmdPort, redisPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const rabbitmq = new RabbitMqServer({
    program: programs.rabbitmq,
    folder: join(folder, 'rabbitmq'),
    ...{ amqpPort, distPort, epmdPort },
  });
  const redis = new RedisServer({ program: programs.redis, folder: join(folder, 'redis'), port: redisPort });
  const remove = async (): Promise<void> => {
    await Promise.all([rabbitmq.remove(), redis.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
  return { rabbitmq, redis, remove };
}

/** Starts both programs privately. */
export async function startPrograms(programs: Programs): Promise<Servers> {
  const { rabbitmq, redis, remove } = await privateServers(programs);
  try {
    await Promise.all([rabbitmq.start(), redis.start()]);
  } catch (error: unknown) {
    await remove();
    throw error;
  }
  return { rung: 'programs', rabbitmqUrl: rabbitmq.url, redisUrl: redis.url, stop: remove };
}
