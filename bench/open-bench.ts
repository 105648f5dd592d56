import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServers } from '../test/support/servers/ladder.ts';
import { startOrigin } from './origin.ts';
import type { Bench } from './rows.ts';

/** A bench with a folder and servers of its own. */
interface OpenedBench extends Bench {
  /** Name and version of its web server. */
  readonly originName: string;
  stop(): Promise<void>;
}

/** Opens a bench. The caller must stop it. */
export async function openBench(rounds: number): Promise<OpenedBench> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-bench-'));
  const servers = await startServers();
  const origin = await startOrigin(folder);
  const { rabbitmqUrl, redisUrl } = servers;
  return {
    ...{ folder, origin: origin.url, originName: origin.name, rabbitmqUrl, redisUrl, rounds },
    stop: async () => {
      await origin.stop();
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
