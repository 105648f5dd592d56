import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pRetry from 'p-retry';
import { ServerProcess } from './server-process.ts';

interface RedisServerOptions {
  readonly program: string;
  /** Folder of its data; created if missing. */
  readonly folder: string;
  readonly port: number;
  /** Additional flags of `redis-server`. */
  readonly settings?: readonly string[];
}

/** A private Redis with an append-only file that can be stopped, killed and started again on the same data and port. */
export class RedisServer {
  readonly url: string;
  readonly port: number;
  readonly #options: RedisServerOptions;
  #process: ServerProcess | undefined;

  constructor(options: RedisServerOptions) {
    this.#options = options;
    this.port = options.port;
    this.url = `redis://127.0.0.1:${options.port}`;
  }

  /** Resolves once it answers. */
  async start(): Promise<void> {
    const { program, folder, port, settings = [] } = this.#options;
    await mkdir(folder, { recursive: true });
    const flags = [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'yes', '--enable-debug-command', 'local'],
      ...settings,
    ];
    this.#process = new ServerProcess(program, flags, { output: join(folder, 'output.log') });
    await this.#process.answers(() => this.command('PING'));
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Copies its data, with every write it has answered. Returns a function that restores them; call it while the server isn't running. */
  async keep(): Promise<() => Promise<void>> {
    const { folder } = this.#options;
    await this.#written();
    const kept = `${folder}-kept`;
    await rm(kept, { recursive: true, force: true });
    await cp(folder, kept, { recursive: true });
    return async () => {
      await rm(folder, { recursive: true });
      await cp(kept, folder, { recursive: true });
    };
  }

  /** Resolves once its append-only file is written: while a disk is busy, Redis answers up to two seconds earlier. */
  async #written(): Promise<void> {
    await pRetry(
      async () => {
        const info = String(await this.command('INFO', 'persistence'));
        if (!/^aof_buffer_length:0\r?$/m.test(info)) throw new Error('Redis has not written its log');
      },
      { retries: 100, factor: 1, minTimeout: 50 },
    );
  }

  /** Runs one command on a new connection, without first asking whether the server is ready: a busy one would refuse to say. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis(this.url, { lazyConnect: true, retryStrategy: null, enableReadyCheck: false });
    redis.on('error', () => {});
    try {
      await redis.connect();
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  }
}
