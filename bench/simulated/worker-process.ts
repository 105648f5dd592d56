import { connectStores } from '../../shared/backends/backends.ts';
import { Janitor } from '../../shared/loops/janitor.ts';
import { Releaser } from '../../shared/loops/releaser.ts';
import { BEAT_EVERY_MS } from '../../shared/ports/roster.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLog } from '../../shared/runtime/logger.ts';
import { settingsFrom } from '../../shared/settings/settings.ts';
import { readCommandLine } from '../command-line.ts';
import { SimulatedTransport } from './broker.ts';
import { SimulatedWorker } from './worker.ts';

const {
  operands: [redisUrl = '', ...numbers],
} = readCommandLine(
  `node bench/simulated/worker-process.ts URL FIRST COUNT SLOTS
Runs some of the simulated workers, in one process with one connection to Redis.`,
  {},
  [4, 4],
);
const [first = 0, count = 0, slots = 0] = numbers.map(Number);
const settings = settingsFrom({ flag: { REDIS_URL: redisUrl }, environment: {}, file: {} });
const stores = await connectStores({ settings, log: silentLog, name: 'trawl bench' });
const transport = new SimulatedTransport();
await transport.start();

const workers = Array.from({ length: count }, (_, n) => new SimulatedWorker(`simulated-${first + n}`, stores));
const parts = workers.flatMap(() => [
  new Releaser({ ...stores, transport, clock: systemClock, log: silentLog, onFailure: async () => {} }),
  new Janitor({ frontier: stores.frontier, clock: systemClock, log: silentLog }),
]);
const beat = (): void => {
  for (const { id } of workers) {
    const alive = { host: 'simulated', version: '0', inHand: 0, bound: 'slots', state: 'consuming' } as const;
    void stores.roster.beat({ id, slots, ...alive });
  }
};
beat();
setInterval(beat, BEAT_EVERY_MS);
let next = 0;
await transport.consume('normal', async (delivery) => (await workers[next++ % count]?.handle(delivery)) ?? 'return', {
  prefetch: count * slots,
});
for (const part of parts) await part.start();

// Reports its usage when it is told to end.
process.on('SIGTERM', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1_000;
  process.send?.({ kind: 'used', cpuMs, rssMb: maxRSS / 1_024 }, () => process.exit(0));
});
process.send?.({ kind: 'ready' });
