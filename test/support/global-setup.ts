import type { TestProject } from 'vitest/node';
import { startServers } from './servers/ladder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    rabbitmqUrl: string;
    redisUrl: string;
  }
}

/** Starts the servers once for all suites, and stops them at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = await startServers();
  process.stderr.write(`Servers: ${servers.rung}\n`);
  project.provide('rabbitmqUrl', servers.rabbitmqUrl);
  project.provide('redisUrl', servers.redisUrl);
  return async () => await servers.stop();
}
