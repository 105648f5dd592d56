import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { devNull } from 'node:os';
import { ConfigurationError, codeOf, messageOf } from '../runtime/errors.ts';

const { O_RDONLY, O_NONBLOCK } = constants;
const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;
/** Longest wait for a named pipe: its writer may be a password manager that asks a person first. */
const PIPE_WAIT_MS = 60_000;
/** A wait longer than this is reported. */
const QUIET_WAIT_MS = 1_000;
const POLL_MS = 20;
/** As much as a pipe holds. */
const PIPE_BYTES = 65_536;

/** What a named pipe has given: each text can be read from it only once. */
let textOfPipe: string | undefined;

/** Returns the text of `.env`, empty if there is no such file. @throws ConfigurationError if it can't be read */
export function envFileText(): string {
  if (textOfPipe !== undefined) return textOfPipe;
  let fd: number;
  try {
    // Opening a pipe without O_NONBLOCK waits until somebody opens it to write.
    fd = openSync('.env', O_RDONLY | O_NONBLOCK);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return '';
    throw unreadable(error);
  }
  try {
    const stats = fstatSync(fd);
    if (stats.isDirectory())
      throw new ConfigurationError([
        "expected .env to be a file, found a folder: rename it, if it is another program's; Docker makes one where it mounts a missing file",
      ]);
    if (stats.isFIFO()) {
      textOfPipe = decoded(bytesOfPipe(fd));
      return textOfPipe;
    }
    // A device such as /dev/zero has no end.
    if (!stats.isFile() && !isNull(stats))
      throw new ConfigurationError([
        'expected .env to be a file, a named pipe or /dev/null, found a device: look where it links to (ls -lL .env)',
      ]);
    return decoded(readFileSync(fd));
  } catch (error: unknown) {
    throw error instanceof ConfigurationError ? error : unreadable(error);
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns what a named pipe `.env` has given, for processes that this one starts: nobody might write it again. Undefined if `.env` is
 * anything else, which they can read themselves.
 */
export function givenByPipe(): string | undefined {
  return textOfPipe;
}

/** In a process started by another one: takes what that one has read of a named pipe, if it passes anything on over standard input. */
export function takeGivenByPipe(): void {
  const text = readFileSync(STANDARD_INPUT, 'utf8');
  if (text !== '') textOfPipe = text;
}

function isNull(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
}

function unreadable(error: unknown): ConfigurationError {
  return new ConfigurationError([`.env can't be read: ${messageOf(error)}`], { cause: error });
}

function decoded(bytes: Buffer): string {
  // In UTF-16, no line would be understood.
  if (bytes.includes(0))
    throw new ConfigurationError(['expected .env to be text in UTF-8: save it as UTF-8, not as UTF-16']);
  return bytes.toString();
}

/** Reads a pipe until its writer closes it. Blocks the process meanwhile, and says so if that takes long. */
function bytesOfPipe(fd: number): Buffer {
  const parts: Buffer[] = [];
  const from = performance.now();
  let isReported = false;
  for (;;) {
    const part = partOfPipe(fd);
    if (part !== undefined && part.length > 0) {
      parts.push(part);
      continue;
    }
    if (part !== undefined && parts.length > 0) return Buffer.concat(parts);
    const waitedMs = performance.now() - from;
    if (waitedMs > PIPE_WAIT_MS)
      throw new ConfigurationError([`.env is a named pipe, and nothing wrote it within ${PIPE_WAIT_MS / 1_000} s`]);
    if (waitedMs > QUIET_WAIT_MS && !isReported) {
      isReported = true;
      writeSync(STANDARD_ERROR, 'trawl: .env is a named pipe: waiting until a program writes it\n');
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

/** Returns what the pipe has at the moment: nothing at its end or without a writer, undefined if a writer has written nothing yet. */
function partOfPipe(fd: number): Buffer | undefined {
  const bytes = Buffer.alloc(PIPE_BYTES);
  try {
    return bytes.subarray(0, readSync(fd, bytes));
  } catch (error: unknown) {
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}
