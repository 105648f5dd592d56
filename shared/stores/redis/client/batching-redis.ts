import { Redis, type RedisOptions } from 'ioredis';
import { batchWrites } from '../../../runtime/batch-writes.ts';
import { temporaryRefusal } from './temporary-refusals.ts';

/** A Redis client that sends commands in batches, and can hang up. */
export class BatchingRedis extends Redis {
  /** Whether the server last said on this connection that it is still reading its data from disk. It answers nothing else meanwhile. */
  isLoading = false;
  /** Why the server refused the current connection, or the last one, to pass; `undefined` if it didn't. */
  refusal: string | undefined;
  #isReconnecting = false;

  constructor(url: string, options: RedisOptions) {
    super(url, options);
    this.on('close', () => {
      this.#isReconnecting = false;
    });
    this.on('connect', () => {
      this.refusal = undefined;
      this.isLoading = false;
      if (this.stream !== undefined) batchWrites(this.stream);
    });
  }

  /**
   * Reads the answers to the client's own commands until the server is ready, and lets all other commands wait until then. ioredis would
   * send at once those that a loading server answers, such as INFO, and would never settle them if the connection closed first.
   */
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const { status } = this;
    if (status === 'connect' && !isHandshake(command)) {
      this.status = 'connecting';
      try {
        return super.sendCommand(command, stream);
      } finally {
        this.status = status;
      }
    }
    if (status !== 'ready') {
      command.promise.catch((error: unknown) => {
        this.refusal ??= temporaryRefusal(error);
      });
    }
    if (command.name === 'info' && status !== 'ready') {
      const look = (info: unknown): void => {
        this.isLoading = /^loading:1\r?$/m.test(String(info));
      };
      (command.promise as Promise<unknown>).then(look, look);
    }
    return super.sendCommand(command, stream);
  }

  /**
   * Gives up a connection whose beginning the server refuses, but lets the commands that wait for it wait for the next one: ioredis would
   * fail them.
   */
  override recoverFromFatalError(...[commandError, error, options]: Parameters<Redis['recoverFromFatalError']>): void {
    super.recoverFromFatalError(commandError, error, { ...options, offlineQueue: false });
  }

  /** Reconnects once per connection: ioredis calls it for each answer that is a reason to, and each time adds a listener to the socket. */
  override disconnect(reconnects = false): void {
    if (reconnects && this.#isReconnecting) return;
    this.#isReconnecting = reconnects;
    super.disconnect(reconnects);
  }

  /** Drops the connection without waiting for the server, which may never answer; the client then reconnects. */
  hangUp(reason: string): void {
    this.stream?.destroy(new Error(reason));
  }
}

/** Whether ioredis itself sends this command on a connection that isn't ready yet. */
function isHandshake({ name, args }: Parameters<Redis['sendCommand']>[0]): boolean {
  return /^(auth|hello|client|select|readonly)$/i.test(name) || (name === 'info' && args.length === 0);
}
