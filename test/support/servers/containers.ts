import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import { tryRun } from './machine.ts';
import type { Servers } from './servers.ts';

/** The images of the compose file. */
export const IMAGES = { rabbitmq: 'rabbitmq:4-management', redis: 'redis:8' } as const;

/** Whether a Docker engine answers and has both images. Pulls nothing. */
export function hasImages(): boolean {
  return Object.values(IMAGES).every((image) => tryRun('docker', ['image', 'inspect', image]) !== undefined);
}

/** Loads testcontainers. That takes most of a second, so only tests that start containers do it. */
export async function loadContainers(): Promise<typeof import('testcontainers')> {
  return await import('testcontainers');
}

/** Starts both servers of the compose file in containers, on free ports. */
export async function startContainers(): Promise<Servers> {
  // Without its image, the container that cleans up after a crash can't start; then only `stop` cleans up.
  if (tryRun('docker', ['image', 'ls', '-q', 'testcontainers/ryuk'])?.trim() === '') {
    process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
  }
  const { GenericContainer, Wait } = await loadContainers();
  const started: StartedTestContainer[] = [];
  const start = async (container: GenericContainer): Promise<StartedTestContainer> => {
    const running = await container.start();
    started.push(running);
    return running;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((container) => container.stop()));
  };
  try {
    const [rabbitmq, redis] = await Promise.all([
      start(
        new GenericContainer(IMAGES.rabbitmq)
          .withEnvironment({ RABBITMQ_DEFAULT_USER: 'guest', RABBITMQ_DEFAULT_PASS: 'guest' })
          .withExposedPorts(5672)
          .withWaitStrategy(Wait.forLogMessage(/Server startup complete/)),
      ),
      start(
        new GenericContainer(IMAGES.redis)
          .withCommand(['redis-server', '--appendonly', 'yes'])
          .withExposedPorts(6379)
          .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/)),
      ),
    ]);
    return {
      rung: 'containers',
      rabbitmqUrl: `amqp://guest:guest@${rabbitmq.getHost()}:${rabbitmq.getMappedPort(5672)}`,
      redisUrl: `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`,
      stop,
    };
  } catch (error: unknown) {
    await stop();
    throw error;
  }
}
