import { InterruptedError } from '../../../shared/runtime/errors.ts';
import { exitNow } from '../../../shared/runtime/process-exit.ts';
import { SECOND_MS } from '../../../shared/task/durations.ts';
import { say } from '../text/output.ts';

/** A process ends this long after a signal at the latest, by the signal that asked for it. Until shortly before, pages in hand may finish. */
export const GRACE_MS = { SIGINT: 10_000, SIGTERM: 35_000 } as const;
export type StopSignal = keyof typeof GRACE_MS;

/** How long of that is kept for aborted work, to put its tasks back. */
const LAST_WORDS_MS = 3_000;
/** How long a leftover timer or connection attempt may delay the end of a finished process. */
export const LEFT_OVER_MS = 1_000;
/** How long an action may take to end by itself after a signal, and to name the service that it waited for. */
const ANSWER_MS = 250;

/**
 * A signal so soon after the first is the same one: `timeout` sends its signal to the process and then to its group, and a process that
 * passes on what the terminal has sent to all does the like. Nobody presses Ctrl-C twice in this time.
 */
export const SAME_SIGNAL_MS = 100;

/** Of a process that was interrupted. */
export const EXIT_INTERRUPTED = 130;

/**
 * Lets this process live on when the terminal that it was started in is closed, if none of its outputs is one. That is what `nohup` asks
 * for, and Node.js undoes it: at its start, every signal that was ignored ends the process again.
 */
export function outliveTerminal(): void {
  if (!isOnTerminal()) process.on('SIGHUP', () => {});
}

/** Calls `listener` at each Ctrl-C and SIGTERM, and, as if it were SIGTERM, when the terminal is closed that shows what this process says. */
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
 * Listens for {@link onStopSignals}: the first asks to stop, the second ends the process at once. What was done so far is
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

  /** @param lastWords what is said when there is no time for anything else */
  constructor(lastWords: () => readonly string[] = () => []) {
    this.#lastWords = lastWords;
    this.#listening = onStopSignals(this.#onSignal);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What is said when the process ends at once. */
  get lastWords(): readonly string[] {
    return this.#lastWords();
  }

  /** The signal that asked to stop, if one did. */
  get by(): StopSignal | undefined {
    return this.#first;
  }

  /** The most seconds until the end, for people. */
  get seconds(): number {
    return this.#graceMs / SECOND_MS;
  }

  /** Of a process that is meant to be ended by SIGTERM, not by Ctrl-C. */
  get exitCode(): number {
    return this.#first === 'SIGINT' ? EXIT_INTERRUPTED : 0;
  }

  /**
   * Ends the process when a signal's grace is over, unless {@link close} comes first. For commands that only wait for others: a store
   * that is away may never answer.
   */
  endInTime(): this {
    this.#endsInTime = true;
    return this;
  }

  /**
   * Runs `stop`, and `hurry` shortly before the signal's grace is over. What still doesn't end by then waits for a store that is
   * away, whose leases bring back what was cut short: then the process ends at once.
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
   * Everything has been stopped. After a signal the process is about to end: another one only ends it sooner, with the
   * exit code that it has come to.
   */
  close(): void {
    clearTimeout(this.#end);
    if (this.#first === undefined) {
      this.#listening.remove();
      return;
    }
    this.#isClosed = true;
    process.exitCode ??= EXIT_INTERRUPTED;
    // Not waited for: a process with nothing left to do ends sooner.
    setTimeout(() => exitNow(), LEFT_OVER_MS).unref();
  }

  get #graceMs(): number {
    return GRACE_MS[this.#first ?? 'SIGTERM'];
  }

  /** Nothing is lost by it: what was not settled is worked again. */
  #stopAtOnce(exitCode = EXIT_INTERRUPTED): never {
    say('', 'Stopped at once.', ...this.#lastWords());
    exitNow(exitCode);
  }
}

/**
 * Runs an action that may be left at any moment: it only asks, or what it does stays whole. The first Ctrl-C or SIGTERM
 * ends it.
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
