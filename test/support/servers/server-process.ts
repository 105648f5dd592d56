import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import pRetry from 'p-retry';

interface ServerProcessOptions extends Pick<SpawnOptions, 'env'> {
  /** The file that what it prints is written to. */
  readonly output: string;
}

/** A server program with all that it starts, as one group of processes: what is signalled is the whole group. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #output: string;

  constructor(program: string, args: readonly string[], { output, ...options }: ServerProcessOptions) {
    this.#output = output;
    const file = openSync(output, 'w');
    this.#child = spawn(program, args, { ...options, stdio: ['ignore', file, file], detached: true });
    closeSync(file);
    this.#gone = new Promise((resolve) => this.#child.once('exit', () => resolve()).once('error', () => resolve()));
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves once `question` does, which is asked again and again: for two minutes, or until the program has ended. */
  async answers(question: () => Promise<unknown>): Promise<void> {
    let ended = false;
    const gone = this.#gone.then(() => {
      ended = true;
      throw new Error(`${this.#child.spawnfile} has ended:\n${this.#printed()}`);
    });
    await Promise.race([
      gone,
      pRetry(question, { retries: 600, factor: 1, minTimeout: 200, shouldRetry: () => !ended }),
    ]);
  }

  #printed(): string {
    return readFileSync(this.#output, 'utf8').slice(-4_000);
  }

  signal(name: NodeJS.Signals): void {
    if (!this.isRunning) return;
    try {
      process.kill(-(this.#child.pid ?? 0), name);
    } catch {
      // It has ended meanwhile.
    }
  }

  /** Asks it to end, and makes it after a while. Resolves once it has. */
  async stop(): Promise<void> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), 10_000);
    if (this.isRunning) await this.#gone;
    clearTimeout(timer);
  }

  /** `kill -9`. Resolves once it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    if (this.isRunning) await this.#gone;
  }
}
