import { afterAll, beforeAll } from 'vitest';
import { needPrograms } from '../../support/servers/ladder.ts';
import { type PrivateServers, privateServers } from '../../support/servers/programs.ts';

/** Starts servers that the rows of one file may break. Each row must leave them repaired. */
export function ownServers(...names: readonly ('rabbitmq' | 'redis')[]): () => PrivateServers {
  let servers: PrivateServers | undefined;
  beforeAll(async () => {
    servers = await privateServers(needPrograms());
    for (const name of names) await servers[name].start();
  });
  afterAll(() => servers?.remove());
  return () => {
    if (servers === undefined) throw new Error('the servers have not started');
    return servers;
  };
}
