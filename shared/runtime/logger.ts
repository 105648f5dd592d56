import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import { showsColours } from './colour.ts';
import { printable, printableJson } from './printable.ts';
import { StandardError, terminal } from './standard-error.ts';

/** For modules that only some logs need. */
const require = createRequire(import.meta.url);

/** A log, as the rest of the program uses it: constant messages, varying fields. */
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
  /** Fields added to every line. */
  readonly fields?: object;
  /** A progress line is shown: each line of the log clears it first, and is written at once. */
  readonly overProgress?: boolean;
}

/** Clears the progress line, from its beginning to the end of the screen. */
const CLEAR_LINE = '\r\u001b[J';

/**
 * Opens a log on standard error: JSON for machines, or short lines for people, both safe to show on a terminal. Lines are
 * written in batches, so call `close` before the process ends.
 */
export function openLog({ level, format, fields = {}, overProgress = false }: LogOptions): Logger & { close(): void } {
  const file = new StandardError();
  const output: DestinationStream = overProgress ? { write: (line) => terminal.write(`${CLEAR_LINE}${line}`) } : file;
  let pretty: ((line: string) => string) | undefined;
  const text = (line: string): string => {
    if (format === 'json') return printableJson(line);
    pretty ??= forPeople();
    return pretty(line);
  };
  const stream: DestinationStream = { write: (line) => void output.write(text(line)) };
  const logger = pino(
    { level, base: { hostname: hostname(), ...fields }, timestamp: stdTimeFunctions.isoTime },
    stream,
  );
  return Object.assign(logger, { close: () => file.close() });
}

/** Returns the function that turns a JSON line of the log into one for people. */
function forPeople(): (line: string) => string {
  const { prettyFactory }: typeof import('pino-pretty') = require('pino-pretty');
  return prettyFactory({
    colorize: showsColours(process.stderr),
    ignore: 'pid,hostname,worker',
    translateTime: 'SYS:HH:MM:ss',
    // Escaped here, because the colours that are added around it are escape sequences themselves.
    messageFormat: (log, key) => printable(readable(log, String(log[key]))),
    hideObject: true,
  });
}

/** A log that discards everything, for parts used without one. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const HIDDEN = new Set(['level', 'time', 'pid', 'hostname', 'worker', 'msg', 'run', 'v']);

/** Returns a message followed by its fields: `done 200 https://example.com/ 35 ms`. */
function readable(log: Readonly<Record<string, unknown>>, message: string): string {
  const values = Object.entries(log)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== undefined)
    .map(([name, value]) =>
      PLAIN.has(name) ? String(value) : `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  return [message, ...values].join(' ');
}

/** Fields shown without their names. */
const PLAIN = new Set(['status', 'url', 'reason', 'error', 'what']);
