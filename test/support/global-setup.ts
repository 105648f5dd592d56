import type { TestProject } from 'vitest/node';
import { startServers } from './servers/ladder.ts';
import { startPostgres } from './servers/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    rabbitmqUrl: string;
    redisUrl: string;
    postgresUrl: string;
  }
}

/** Starts the servers once for all suites, and stops them at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [servers, postgres] = await bothOrNone(startServers(), startPostgres());
  process.stderr.write(`Servers: ${servers.rung}; Postgres: ${postgres.rung}\n`);
  project.provide('rabbitmqUrl', servers.rabbitmqUrl);
  project.provide('redisUrl', servers.redisUrl);
  project.provide('postgresUrl', postgres.postgresUrl);
  return async () => void (await Promise.all([servers.stop(), postgres.stop()]));
}

interface Stoppable {
  stop(): Promise<void>;
}

/** Waits for both. If one fails to start, stops the other and rejects. */
async function bothOrNone<A extends Stoppable, B extends Stoppable>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  try {
    return await Promise.all([a, b]);
  } catch (error: unknown) {
    for (const each of await Promise.allSettled([a, b])) if (each.status === 'fulfilled') await each.value.stop();
    throw error;
  }
}
