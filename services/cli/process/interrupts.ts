import { InterruptedError } from '../../../shared/runtime/errors.ts';
import { exitNow } from '../../../shared/runtime/process-exit.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { say } from '../text/output.ts';

/** Longest time from each signal to the end of the process. Pages in hand can finish until shortly before. */
export const GRACE_MS = { SIGINT: 10_000, SIGTERM: 35_000 } as const;
export type StopSignal = keyof typeof GRACE_MS;

/** The last part of the grace period, in which aborted work puts its tasks back. */
const LAST_WORDS_MS = 3_000;
/** Longest delay of a finished process' end by a leftover timer or connection attempt. */
export const LEFT_OVER_MS = 1_000;
/** Time for an action to end by itself after a signal, so that its error can name the service it was waiting for. */
const ANSWER_MS = 250;

/**
 * A signal within this time of the first counts as the same one. `timeout` sends its signal to the process and then to its group, and a
 * parent may pass on a signal that the terminal has already sent to the whole group. Nobody presses Ctrl-C twice in this time.
 */
export const SAME_SIGNAL_MS = 100;

/** Exit code of a process that was interrupted. */
export const EXIT_INTERRUPTED = 130;

/**
 * Keeps this process alive when its terminal is closed, provided that neither of its outputs is a terminal. `nohup` asks for this by
 * ignoring SIGHUP, but Node.js resets ignored signals to their default at its start.
 */
export function outliveTerminal(): void {
  if (!isOnTerminal()) process.on('SIGHUP', () => {});
}

/** Calls `listener` at each Ctrl-C and SIGTERM. If an output is a terminal, closing that terminal counts as SIGTERM. */
export function onStopSignals(listener: (signal: StopSignal) => void): { remove(): void } {
  const onHangup = (): void => listener('SIGTERM');
  const listeners = { SIGINT: listener, SIGTERM: listener, ...(isOnTerminal() ? { SIGHUP: onHangup } : {}) };
  for (const [signal, each] of Object.entries(listeners)) process.on(signal, each);
  return {
    remove() {
      for (const [signal, each] of Object.entries(listeners)) process.off(signal, each);
    },
  };
}

function isOnTerminal(): boolean {
  return process.stdout.isTTY || process.stderr.isTTY;
}

/**
 * Handles stop signals (see {@link onStopSignals}): the first one asks to stop, the second ends the process at once. Finished work is
 * kept either way.
 */
export class Interrupts {
  readonly #abort = new AbortController();
  readonly #onSignal = (signal: StopSignal): void => {
    if (this.#isClosed) exitNow();
    const now = performance.now();
    if (this.#askedAt !== undefined) {
      if (now - this.#askedAt > SAME_SIGNAL_MS) this.#stopAtOnce();
      return;
    }
    this.#first = signal;
    this.#askedAt = now;
    if (this.#endsInTime) this.#end = setTimeout(() => this.#stopAtOnce(), this.#graceMs);
    this.#abort.abort();
  };
  readonly #lastWords: () => readonly string[];
  readonly #listening: { remove(): void };
  #first: StopSignal | undefined;
  #askedAt: number | undefined;
  #endsInTime = false;
  #end: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param lastWords lines to print when the process ends at once */
  constructor(lastWords: () => readonly string[] = () => []) {
    this.#lastWords = lastWords;
    this.#listening = onStopSignals(this.#onSignal);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Lines to print when the process ends at once. */
  get lastWords(): readonly string[] {
    return this.#lastWords();
  }

  /** The signal that asked to stop, if one did. */
  get by(): StopSignal | undefined {
    return this.#first;
  }

  /** Longest time until the end, in seconds, for messages. */
  get seconds(): number {
    return this.#graceMs / SECOND_MS;
  }

  /** Exit code of a process whose normal end is SIGTERM (0), while Ctrl-C interrupts it. */
  get exitCode(): number {
    return this.#first === 'SIGINT' ? EXIT_INTERRUPTED : 0;
  }

  /**
   * Ends the process when a signal's grace period is over, unless {@link close} is called first. For commands that only wait for others:
   * an unreachable store may never answer.
   */
  endInTime(): this {
    this.#endsInTime = true;
    return this;
  }

  /**
   * Runs `stop`, and calls `hurry` shortly before the signal's grace period is over. If `stop` still hasn't ended by then, it is waiting
   * for an unreachable store, and the process ends at once: leases bring back the work that is cut short.
   */
  async within(stop: () => Promise<void>, hurry: () => void, exitCode = EXIT_INTERRUPTED): Promise<void> {
    let timer = setTimeout(
      () => {
        hurry();
        timer = setTimeout(() => this.#stopAtOnce(exitCode), LAST_WORDS_MS);
      },
      Math.max(0, this.#graceMs - LAST_WORDS_MS - (performance.now() - (this.#askedAt ?? performance.now()))),
    );
    try {
      await stop();
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * To be called once everything has stopped. After a signal the process is about to end. Another signal only ends it sooner, with the
   * exit code set so far.
   */
  close(): void {
    clearTimeout(this.#end);
    if (this.#first === undefined) {
      this.#listening.remove();
      return;
    }
    this.#isClosed = true;
    process.exitCode ??= EXIT_INTERRUPTED;
    // Unreferenced, so that a process with nothing left to do ends sooner.
    setTimeout(() => exitNow(), LEFT_OVER_MS).unref();
  }

  get #graceMs(): number {
    return GRACE_MS[this.#first ?? 'SIGTERM'];
  }

  /** Loses nothing: tasks that were not settled are worked on again. */
  #stopAtOnce(exitCode = EXIT_INTERRUPTED): never {
    say('', 'Stopped at once.', ...this.#lastWords());
    exitNow(exitCode);
  }
}

/**
 * Runs an action that can be abandoned at any moment, because it only reads or each of its changes is atomic. The first Ctrl-C or
 * SIGTERM ends it.
 *
 * @throws InterruptedError when that happens
 */
export async function untilInterrupted<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupts = new Interrupts();
  const interruption = Promise.withResolvers<never>();
  const interrupt = (): void => interruption.reject(new InterruptedError('interrupted'));
  interrupts.signal.addEventListener('abort', () => setTimeout(interrupt, ANSWER_MS));
  try {
    return await Promise.race([action(interrupts.signal), interruption.promise]);
  } finally {
    interrupts.close();
  }
}
