import { onTestFinished } from 'vitest';
import { DnsServer, type Zone } from './dns-server.ts';

/** Starts a name server for one test. */
export async function openDnsServer(zones: Readonly<Record<string, Zone>> | ((name: string) => Zone | undefined)) {
  const server = new DnsServer(typeof zones === 'function' ? zones : (name) => zones[name]);
  await server.start();
  onTestFinished(() => {
    if (!server.isStopped) server.stop();
  });
  return server;
}
