import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { EXIT_CONFIGURATION, EXIT_USAGE, messageOf } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { withFilesAdvice } from '../../../shared/runtime/open-files.ts';
import { givenByPipe } from '../../../shared/settings/env-file.ts';
import { EXIT_INTERRUPTED, GRACE_MS, onStopSignals, SAME_SIGNAL_MS, type StopSignal } from '../process/interrupts.ts';
import { passOn } from '../text/output.ts';
import { restartDelayMs } from './restart-delay.ts';
import { passWholeLines } from './whole-lines.ts';

/** Exit codes for wrong usage and wrong settings: a restart would end the same way. */
const HOPELESS: ReadonlySet<number> = new Set([EXIT_USAGE, EXIT_CONFIGURATION]);
/** A worker that exceeds its grace period by this much is stuck. */
const STUCK_MS = 10_000;
/** Time for a worker to end after a second signal, which ends it at once. */
const AT_ONCE_MS = 2_000;

interface WorkerProcessesOptions {
  readonly count: number;
  /** A worker that exits with 0 has done its work, and is not restarted. */
  readonly exitWhenIdle: boolean;
  readonly log: Logger;
  /** Called with each started process. */
  readonly onStarted?: ((child: ChildProcess) => void) | undefined;
}

/** Value of MALLOC_ARENA_MAX. glibc gives each of V8's threads its own heap; with only two, a worker at full speed takes 20 MB less. */
const FEW_HEAPS = '2';

/**
 * Runs workers in processes of their own, each this same program with the same arguments, and restarts those that die.
 *
 * | a worker ends …                              | then                                                              |
 * |----------------------------------------------|-------------------------------------------------------------------|
 * | after a signal to this process               | it is not restarted                                               |
 * | with 0, and is to end when idle              | it is not restarted                                               |
 * | with 2 or 78                                 | all others are stopped too: they have the same arguments          |
 * | by a signal, by a crash, with any other code | it is restarted after a delay: see {@link restartDelayMs}         |
 *
 * Every Ctrl-C and SIGTERM is passed on, and workers treat it as `trawl work` does. They are detached from the terminal, so that Ctrl-C
 * reaches each of them only once. When this process dies, each of them stops as after SIGTERM. If `.env` is a named pipe, what it gave
 * comes to each of them as standard input.
 */
export class WorkerProcesses {
  readonly #options: WorkerProcessesOptions;
  readonly #running = new Set<ChildProcess>();
  readonly #stop = new AbortController();
  /** Time of the first signal. */
  #askedAt: number | undefined;

  constructor(options: WorkerProcessesOptions) {
    this.#options = options;
  }

  /** Runs the workers until all have ended, and returns their highest exit code. Call it once. */
  async run(): Promise<number> {
    const listening = onStopSignals((signal) => this.#passOn(signal));
    try {
      const numbers = Array.from({ length: this.#options.count }, (_, index) => index + 1);
      const codes = await Promise.all(numbers.map((number) => this.#keepUp(number)));
      return Math.max(...codes);
    } finally {
      listening.remove();
    }
  }

  /** Runs worker `number`, restarting it as the table says, and returns its last exit code. */
  async #keepUp(number: number): Promise<number> {
    const { exitWhenIdle, log } = this.#options;
    const { signal: stop } = this.#stop;
    let delayMs = 0;
    let code = 0;
    while (!stop.aborted) {
      const startedAt = performance.now();
      const { by, ...end } = await this.#work(number);
      code = end.code;
      if (stop.aborted || (code === 0 && exitWhenIdle)) return code;
      if (HOPELESS.has(code)) {
        this.#passOn('SIGTERM');
        return code;
      }
      delayMs = restartDelayMs(delayMs, performance.now() - startedAt);
      log.warn({ process: number, by, seconds: delayMs / 1_000 }, 'a worker process ended, and will be restarted:');
      await systemClock.sleep(delayMs, stop);
    }
    return code;
  }

  async #work(number: number): Promise<{ readonly code: number; readonly by: string }> {
    const [, program = '', ...args] = process.argv;
    const envFile = givenByPipe();
    const child = fork(program, [...args, '--as-process', String(number)], {
      env: { MALLOC_ARENA_MAX: FEW_HEAPS, ...process.env },
      stdio: [envFile === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    if (child.pid === undefined) return { code: 1, by: await startError(child) };
    this.#running.add(child);
    this.#options.onStarted?.(child);
    const { stdin, stdout, stderr } = child;
    // It may die before it has read this.
    stdin?.on('error', () => {}).end(envFile);
    if (stdout !== null) passWholeLines(stdout, (text) => passOn(process.stdout, text));
    if (stderr !== null) passWholeLines(stderr, (text) => passOn(process.stderr, text));
    this.#options.log.info({ process: number, workerPid: child.pid }, 'a worker process started');
    try {
      // Not "exit", which comes before the last output.
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      return { code: code ?? this.#codeOf(signal), by: signal ?? `exit code ${code}` };
    } catch (error: unknown) {
      return { code: 1, by: messageOf(error) };
    } finally {
      this.#running.delete(child);
    }
  }

  /** Returns the exit code for a worker killed by a signal. A worker that has just started doesn't handle signals yet. */
  #codeOf(signal: NodeJS.Signals | null): number {
    if (!this.#stop.signal.aborted) return 1;
    return signal === 'SIGTERM' ? 0 : signal === 'SIGINT' ? EXIT_INTERRUPTED : 1;
  }

  #passOn(signal: StopSignal): void {
    const now = performance.now();
    if (now - (this.#askedAt ?? Number.NEGATIVE_INFINITY) <= SAME_SIGNAL_MS) return;
    const isFirst = this.#askedAt === undefined;
    this.#askedAt ??= now;
    for (const child of this.#running) child.kill(signal);
    this.#stop.abort();
    const patienceMs = isFirst ? GRACE_MS[signal] + STUCK_MS : AT_ONCE_MS;
    setTimeout(() => this.#kill(), patienceMs).unref();
  }

  /** Loses nothing: tasks that were not settled are worked on again. */
  #kill(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }
}

/** Returns why a process could not be started. Its streams may not exist. */
function startError(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(withFilesAdvice(error)));
  });
}

/** Stops a worker process, as after SIGTERM, when the process that started it is gone. */
export function stopWithParent(): void {
  if (process.channel === undefined) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
