import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { Producer, type ProducerOptions, type ProducerParts } from '../../../../services/producer/producer.ts';
import type { Fetcher } from '../../../../shared/ports/fetcher.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import type { LocalDatabase } from '../../../../shared/stores/sqlite/database/database.ts';
import { NOTHING_PRIVATE } from '../../../../shared/task/host/private-address.ts';
import { DEFAULT_ROUTING } from '../../../../shared/task/task/routing.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { openLane } from '../../../support/lane.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { HurriedClock } from './hurried-clock.ts';

export const RUN_OPTIONS: RunOptions = { ...FAST_RUN, dedup: 'ever' };

/** A real fetcher whose only allowed private address is 127.0.0.1. */
export function openFetcher(): Fetcher {
  const fetcher = openLane({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/0 (test)',
    allowedPrivate: { ...NOTHING_PRIVATE, addresses: new Set(['127.0.0.1']) },
  });
  onTestFinished(() => fetcher.stop());
  return fetcher;
}

/** The parts of a producer on the embedded stores, with a clock whose sleeps end at once. */
export function setup(): {
  readonly parts: Omit<ProducerParts, 'options' | 'input'>;
  readonly clock: HurriedClock;
  readonly database: LocalDatabase;
  readonly problems: string[];
  readonly hints: string[];
  produce(options?: Partial<ProducerOptions>, changed?: Partial<ProducerParts>): Producer;
  /** The URLs waiting in the frontier, in no order. */
  waiting(): Promise<string[]>;
} {
  const clock = new HurriedClock();
  const { database, frontier, runs, gate: hostGate } = openLocalParts({ clock });
  const problems: string[] = [];
  const hints: string[] = [];
  const parts = {
    frontier,
    runs,
    fetcher: openFetcher(),
    hostGate,
    clock,
    rules: DEFAULT_ROUTING,
    on: {
      problem: (source: string, problem: string) => void problems.push(`${source} ${problem}`),
      hint: (hint: string) => void hints.push(hint),
    },
  };
  return {
    parts,
    clock,
    database,
    problems,
    hints,
    produce: (options, changed) =>
      new Producer({
        ...parts,
        input: Readable.from([]),
        ...changed,
        options: {
          run: 'r',
          runOptions: RUN_OPTIONS,
          producer: 'p',
          hostConcurrency: 2,
          random: () => 0.5,
          ...options,
        },
      }),
    async waiting() {
      const found: string[] = [];
      for (;;) {
        const { tasks } = await frontier.release({ limit: 1_000, window: Number.MAX_SAFE_INTEGER, unpaced: true });
        if (tasks.length === 0) return found;
        found.push(...tasks.map(({ task }) => task.url));
      }
    },
  };
}
