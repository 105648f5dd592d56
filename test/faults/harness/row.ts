import { appendFileSync } from 'node:fs';
import { inject, test } from 'vitest';
import { ROUNDS, randomOf, seedOf } from './form.ts';

/** One round of a row. */
export interface Round {
  /** Random numbers in [0, 1), by the round's seed. */
  readonly random: () => number;
  /** Marks the end of the fault, from which recovery is timed. */
  mended(): void;
  /** The end of the fault; the start of the round until then. */
  readonly mendedAt: number;
  /** Reports the time of recovery. */
  recovered(afterMs: number): void;
}

/** A line of the report. */
export interface RowResult {
  readonly number: string;
  readonly fault: string;
  readonly seed: number;
  readonly verdict: 'held' | 'broken';
  readonly recoveryMs?: number;
  readonly seconds: number;
}

const DEFAULT_TIMEOUT_MS = 180_000;

/**
 * Defines one row of the fault matrix. It plays its rounds, each with its own seed, and reports them. A failing round
 * names its seed, and `FAULT_SEED=<seed>` plays it again.
 */
export function row(
  number: number | string,
  fault: string,
  play: (round: Round) => Promise<void>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): void {
  test(`${number}: ${fault}`, { timeout: timeoutMs * ROUNDS }, async () => {
    for (let n = 0; n < ROUNDS; n++) await playOnce(String(number), fault, seedOf(n), play);
  });
}

async function playOnce(
  number: string,
  fault: string,
  seed: number,
  play: (round: Round) => Promise<void>,
): Promise<void> {
  const startedAt = now();
  let recoveryMs: number | undefined;
  let mendedAt = startedAt;
  const round: Round = {
    random: randomOf(seed),
    mended: () => {
      mendedAt = now();
    },
    get mendedAt() {
      return mendedAt;
    },
    recovered: (afterMs) => {
      recoveryMs = Math.max(recoveryMs ?? 0, afterMs);
    },
  };
  const report = (verdict: RowResult['verdict']): void => {
    const seconds = (now() - startedAt) / 1_000;
    tell({ number, fault, seed, verdict, seconds, ...(recoveryMs === undefined ? {} : { recoveryMs }) });
  };
  try {
    await play(round);
  } catch (error: unknown) {
    report('broken');
    throw new Error(`row ${number}, seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  report('held');
}

/** Milliseconds since the epoch, like those in the log of the site. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

function tell(result: RowResult): void {
  appendFileSync(inject('faultReport'), `${JSON.stringify(result)}\n`);
  const { number, fault, seed, verdict, recoveryMs, seconds } = result;
  const recovery = recoveryMs === undefined ? '' : ` · recovered in ${(recoveryMs / 1_000).toFixed(1)} s`;
  process.stderr.write(`row ${number} ${verdict} · ${fault} · seed ${seed}${recovery} · ${seconds.toFixed(1)} s\n`);
}
