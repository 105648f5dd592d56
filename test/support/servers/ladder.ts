import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import pRetry from 'p-retry';
import { hasImages, startContainers } from './containers.ts';
import { installPackages } from './debian.ts';
import { findPrograms, type Programs, startPrograms } from './programs.ts';
import type { Servers } from './servers.ts';

/**
 * Finds servers for the suites, and never skips silently. Takes the first rung that works; `TEST_SERVERS` names one:
 *
 * | rung         | when                                                                                   |
 * |--------------|----------------------------------------------------------------------------------------|
 * | `given`      | `TEST_RABBITMQ_URL` and `TEST_REDIS_URL` are set                                       |
 * | `containers` | a Docker engine answers and has the images of the compose file                         |
 * | `programs`   | `rabbitmq-server` and `redis-server` are installed; as root on Debian they are installed |
 */
export async function startServers(): Promise<Servers> {
  const servers = await chooseServers();
  try {
    await waitUntilReady(servers);
  } catch (error: unknown) {
    await servers.stop();
    throw error;
  }
  return servers;
}

async function chooseServers(): Promise<Servers> {
  const { TEST_RABBITMQ_URL, TEST_REDIS_URL, TEST_SERVERS } = process.env;
  if (TEST_RABBITMQ_URL !== undefined && TEST_REDIS_URL !== undefined) {
    return { rung: 'given', rabbitmqUrl: TEST_RABBITMQ_URL, redisUrl: TEST_REDIS_URL, stop: async () => {} };
  }
  if (TEST_SERVERS !== 'programs' && hasImages()) return await startContainers();
  if (TEST_SERVERS === 'containers')
    throw new Error('No Docker engine with the images rabbitmq:4-management and redis:8 answers.');
  const programs = findPrograms() ?? installPrograms();
  if (programs !== undefined) return await startPrograms(programs);
  throw new Error(
    [
      'The tests need a RabbitMQ and a Redis, and found none. One of these helps:',
      '  sudo apt-get install rabbitmq-server redis-server',
      '  docker pull rabbitmq:4-management && docker pull redis:8',
      '  TEST_RABBITMQ_URL=amqp://… TEST_REDIS_URL=redis://… npm test',
    ].join('\n'),
  );
}

/** Finds or installs the two programs, for suites that break servers, which containers and given servers would not survive. */
export function needPrograms(): Programs {
  const programs = findPrograms() ?? installPrograms();
  if (programs === undefined)
    throw new Error('Servers are to be broken here: sudo apt-get install rabbitmq-server redis-server');
  return programs;
}

function installPrograms(): Programs | undefined {
  installPackages('rabbitmq-server', 'redis-server');
  return findPrograms();
}

async function waitUntilReady({ rabbitmqUrl, redisUrl }: Servers): Promise<void> {
  await pRetry(
    async () => {
      const connection = await connect(rabbitmqUrl);
      await connection.close();
      const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: null });
      redis.on('error', () => {});
      await redis.connect();
      await redis.ping();
      redis.disconnect();
    },
    { retries: 240, factor: 1, minTimeout: 250 },
  );
}
