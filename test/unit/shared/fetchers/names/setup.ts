import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Names } from '../../../../../shared/fetchers/names/names.ts';
import type { Zone } from '../../../../support/listeners/dns-server.ts';
import { openDnsServer } from '../../../../support/listeners/opened-dns-server.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

/** Look-ups that ask a name server of the test, with a hosts file of its own. */
export async function setup(
  zones: Readonly<Record<string, Zone>> | ((name: string) => Zone | undefined) = {},
  options: Partial<ConstructorParameters<typeof Names>[0]> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-names-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const hostsPath = join(folder, 'hosts');
  const server = await openDnsServer(zones);
  const clock = new SteppedClock();
  const names = new Names({ clock, servers: [server.address], hostsPath, families: () => [6, 4], ...options });
  return {
    server,
    clock,
    names,
    writeHosts: (text: string) => writeFile(hostsPath, text),
    /** The addresses of a name, or why there are none. */
    async find(name: string): Promise<readonly string[] | string> {
      try {
        return (await names.resolve(name)).map(({ address }) => address);
      } catch (error: unknown) {
        return (error as NodeJS.ErrnoException).code ?? String(error);
      }
    },
  };
}
