import { hostname } from 'node:os';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';

/** What the rest of the program needs of a log: constant messages, varying fields. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  /** Fields of every line. */
  readonly fields?: object;
  /** A progress line is being drawn: each line of the log clears it first, and goes out at once. */
  readonly overProgress?: boolean;
}

/** Between two tries to write, where that fails. */
const AFTER_FAILURE_MS = 5_000;
/** How long a line may wait in memory before it is written. */
const FLUSH_EVERY_MS = 100;

/**
 * A log on standard error: JSON for machines, or one short line a person can read. Lines are written in batches; call
 * `close` before the process ends.
 */
export function openLog({ level, format, fields = {}, overProgress = false }: LogOptions): Logger & { close(): void } {
  const file = new StandardError();
  const output: DestinationStream = overProgress
    ? { write: (line) => void process.stderr.write(`\r\u001b[K${line}`) }
    : file;
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY === true,
    ignore: 'pid,hostname,worker',
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: (log, key) => readable(log, String(log[key])),
    hideObject: true,
  });
  const stream: DestinationStream = format === 'json' ? output : { write: (line) => void output.write(pretty(line)) };
  const logger = pino(
    { level, base: { hostname: hostname(), ...fields }, timestamp: stdTimeFunctions.isoTime },
    stream,
  );
  return Object.assign(logger, { close: () => file.close() });
}

/** Standard error, written to in batches. While it can't be written, on a full disk say, lines are lost, and the work goes on. */
class StandardError implements DestinationStream {
  #file: ReturnType<typeof pino.destination> | undefined;
  #openAgainAt = 0;

  write(line: string): void {
    if (this.#file === undefined) {
      if (performance.now() < this.#openAgainAt) return;
      this.#file = this.#open();
    }
    this.#file.write(line);
  }

  close(): void {
    this.#file?.flushSync();
  }

  #open(): ReturnType<typeof pino.destination> {
    const file = pino.destination({ fd: 2, sync: false, minLength: 4_096, periodicFlush: FLUSH_EVERY_MS });
    file.on('error', () => {
      // Not kept for later: at the end of the process, it would be tried for ever to write what it holds.
      file.destroy();
      this.#file = undefined;
      this.#openAgainAt = performance.now() + AFTER_FAILURE_MS;
    });
    return file;
  }
}

/** A log that says nothing, for parts used without one. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const HIDDEN = new Set(['level', 'time', 'pid', 'hostname', 'worker', 'msg', 'run', 'v']);

/** A message with its fields behind it: `done 200 https://example.com/ 35 ms`. */
function readable(log: Readonly<Record<string, unknown>>, message: string): string {
  const values = Object.entries(log)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== undefined)
    .map(([name, value]) =>
      PLAIN.has(name) ? String(value) : `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  return [message, ...values].join(' ');
}

/** Fields that speak for themselves. */
const PLAIN = new Set(['status', 'url', 'reason', 'error', 'what']);
