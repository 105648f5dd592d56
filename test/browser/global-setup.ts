import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { startServers } from '../support/servers/ladder.ts';
import { needChromium } from './chromium.ts';

/** Finds a browser, builds the dashboard from the present source, and starts the servers of a fleet. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  needChromium();
  const [servers] = await Promise.all([
    startServers(),
    build({ configFile: 'services/api/dashboard/vite.config.ts', logLevel: 'warn' }),
  ]);
  project.provide('rabbitmqUrl', servers.rabbitmqUrl);
  project.provide('redisUrl', servers.redisUrl);
  return () => servers.stop();
}
