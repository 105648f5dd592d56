import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';

/** The usage that a measured process writes to the file named by `BENCH_USAGE`. */
export interface Usage {
  /** User and system time of the whole process, start-up included. */
  readonly cpuMs: number;
  /** Peak resident memory. */
  readonly maxRssMb: number;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  /** Commands sent to Redis, by name. Counted only if `BENCH_COUNT` is set, since counting costs time. */
  readonly commands: Readonly<Record<string, number>>;
}

// Loaded with --import into the processes that are measured.
const { BENCH_USAGE, BENCH_COUNT } = process.env;
if (BENCH_USAGE !== undefined) {
  const commands: Record<string, number> = {};
  if (BENCH_COUNT === '1') {
    subscribe('tracing:ioredis:command:start', (message) => {
      const { command } = message as { readonly command: string };
      commands[command] = (commands[command] ?? 0) + 1;
    });
  }
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    const usage: Usage = {
      cpuMs: (userCPUTime + systemCPUTime) / 1_000,
      maxRssMb: maxRssKb() / 1_024,
      endedAt: Date.now(),
      commands,
    };
    writeFileSync(BENCH_USAGE, JSON.stringify(usage));
  });
}

/** Reads the kernel's high-water mark, where `/proc` has it: `maxRSS` is never below the parent's memory when it forked. */
function maxRssKb(): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
