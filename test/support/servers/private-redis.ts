import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pRetry from 'p-retry';
import { onTestFinished } from 'vitest';
import { hasImages, IMAGES, loadContainers } from './containers.ts';
import { freePort, which } from './machine.ts';
import { RedisServer } from './redis-server.ts';

/**
 * Starts a Redis for one test with the given settings, such as `--maxmemory-policy allkeys-lru`: the program where
 * it is installed, otherwise the image of the compose file. It stops at the end of the test.
 */
export async function openPrivateRedis(...settings: readonly string[]): Promise<{ url: string; redis: Redis }> {
  const { url, stop } = await start(settings);
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null });
  redis.on('error', () => {});
  onTestFinished(async () => {
    redis.disconnect();
    await stop();
  });
  await pRetry(() => redis.connect(), { retries: 100, factor: 1, minTimeout: 50 });
  return { url, redis };
}

async function start(settings: readonly string[]): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const program = which('redis-server');
  if (program !== undefined) return await startProgram(program, settings);
  if (!hasImages()) throw new Error('This test needs a Redis of its own: install redis-server, or pull redis:8.');
  const { GenericContainer, Wait } = await loadContainers();
  const container = await new GenericContainer(IMAGES.redis)
    .withCommand(['redis-server', '--save', '', ...settings])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  const stop = async (): Promise<void> => void (await container.stop());
  return { url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`, stop };
}

async function startProgram(program: string, settings: readonly string[]): ReturnType<typeof start> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-redis-'));
  const server = new RedisServer({
    program,
    folder,
    port: await freePort(),
    settings: ['--appendonly', 'no', ...settings],
  });
  await server.start();
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}
