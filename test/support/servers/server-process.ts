import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import pRetry from 'p-retry';

interface ServerProcessOptions extends Pick<SpawnOptions, 'env'> {
  /** File for its output. */
  readonly output: string;
}

/** A server program and all its child processes, as one process group. Signals go to the whole group. */
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

  /** Resolves once `question` does. Retries it for two minutes, and rejects at once if the program has ended. */
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

  /** Sends SIGTERM, and SIGKILL after ten seconds. Resolves once it has ended. */
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
