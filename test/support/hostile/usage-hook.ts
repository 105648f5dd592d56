import { writeFileSync } from 'node:fs';
import { yardstickMs } from './yardstick.ts';

/** The usage that a process writes to the file `HOSTILE_USAGE` when it ends. */
export interface HostileUsage {
  /** CPU time of the longest turn of its event loop since SIGUSR2, main thread only. Waiting for a processor doesn't count. */
  readonly longestTurnMs: number;
  /** CPU time of a fixed amount of work on this machine: about 4 ms on a fast one. */
  readonly yardstickMs: number;
  readonly maxRssMb: number;
}

// Loaded with `--import` into the measured process.
const { HOSTILE_USAGE } = process.env;
if (HOSTILE_USAGE !== undefined) {
  const yardstick = yardstickMs(cpuMs);
  let longest = 0;
  let before = cpuMs();
  const endTurn = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(endTurn, 1).unref();
  // The start of the program doesn't count.
  process.on('SIGUSR2', () => {
    endTurn();
    longest = 0;
  });
  process.on('exit', () => {
    endTurn();
    const usage: HostileUsage = {
      longestTurnMs: longest,
      yardstickMs: yardstick,
      maxRssMb: process.resourceUsage().maxRSS / 1_024,
    };
    writeFileSync(HOSTILE_USAGE, JSON.stringify(usage));
  });
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
