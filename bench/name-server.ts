import { DnsServer } from '../test/support/listeners/dns-server.ts';
import { readCommandLine } from './command-line.ts';

readCommandLine(
  `node bench/name-server.ts
Runs a name server in a process of its own. All names resolve to this machine; those that begin with "slow" take five seconds.
It sends its address to the parent process once it listens.`,
  {},
);
const server = new DnsServer((name) => ({ addresses: ['127.0.0.1'], delayMs: name.startsWith('slow') ? 5_000 : 50 }));
await server.start();
process.send?.(server.address);
