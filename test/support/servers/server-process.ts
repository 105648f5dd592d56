import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** A server program with all that it starts, as one group of processes: what is signalled is the whole group. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;

  constructor(program: string, args: readonly string[], options: Pick<SpawnOptions, 'env'> = {}) {
    this.#child = spawn(program, args, { ...options, stdio: 'ignore', detached: true });
    this.#gone = new Promise((resolve) => this.#child.once('exit', () => resolve()).once('error', () => resolve()));
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
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
