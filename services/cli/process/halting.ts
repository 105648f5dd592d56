import type { PageRecord } from '../../../shared/ports/record.ts';
import type { Sink } from '../../../shared/ports/sink.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/**
 * A sink whose first failure is told by a signal. A fleet waits for its sink to be mended; a crawl that somebody watches
 * had better end, and say why.
 */
export class HaltingSink implements Sink {
  readonly #sink: Sink;
  readonly #failure = new AbortController();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  async put(record: PageRecord): Promise<void> {
    try {
      await this.#sink.put(record);
    } catch (error: unknown) {
      this.#failure.abort(error);
      throw error;
    }
  }

  async sync(): Promise<void> {
    await this.#sink.sync?.();
  }

  async start(): Promise<void> {
    await this.#sink.start();
  }

  async stop(): Promise<void> {
    await this.#sink.stop();
  }
}

/** A log that falls silent with a signal: what ends everything has a thousand consequences, and is told once. */
export function silentAfter(log: Logger, signal: AbortSignal): Logger {
  const unless =
    (say: (fields: object, message: string) => void) =>
    (fields: object, message: string): void => {
      if (!signal.aborted) say(fields, message);
    };
  return {
    debug: unless((fields, message) => log.debug(fields, message)),
    info: unless((fields, message) => log.info(fields, message)),
    warn: unless((fields, message) => log.warn(fields, message)),
    error: unless((fields, message) => log.error(fields, message)),
  };
}
