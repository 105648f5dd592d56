import pRetry, { AbortError } from 'p-retry';
import {
  ConfigurationError,
  codeOf,
  InterruptedError,
  messageOf,
  NotNowError,
  TrawlError,
  UnavailableError,
} from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { certificateProblem } from './certificates.ts';
import { type ProbedServer, probedReason } from './tls-probe.ts';
import type { TlsWords } from './tls-words.ts';

/** Attempts a command makes before it gives up, in about half a minute. */
export const COMMAND_ATTEMPTS = 10;

/**
 * A server's answer when it refuses a login or a database, the thing refused, and the settings to check. `told` replaces an
 * answer that people would not understand.
 */
export type Refusal = readonly [answer: RegExp, what: string, check: string, told?: string];

interface ConnectOptions {
  /** The service: `RabbitMQ`, `Redis`. */
  readonly name: string;
  /** Its address, without credentials. */
  readonly where: string;
  /** What to check if it can't be reached, as a sentence. */
  readonly advice: string;
  /** `Infinity` for a process that has nothing else to do. */
  readonly attempts: number;
  /** What to check if it refuses the connection, by a pattern of its answer. */
  readonly refusals: readonly Refusal[];
  /** How TLS with it is configured. */
  readonly words: TlsWords;
  /** The server to probe for TLS problems. Absent if its client reports them well enough. */
  readonly probed?: ProbedServer;
  readonly log: Logger;
  readonly signal?: AbortSignal | undefined;
}

/** The server has answered with a {@link Refusal}; the message says what to check. */
class RefusedError extends Error {}

/**
 * Connects, with numbered attempts: services often start at the same moment as the processes that need them.
 *
 * @throws UnavailableError when all attempts are used up
 * @throws ConfigurationError at once, since waiting doesn't help. A refused login or an untrusted certificate counts as one, too,
 *   unless attempts are unlimited: a process that waits for ever also waits for these to be mended
 * @throws InterruptedError at once when `signal` is aborted, even while the service doesn't answer. The caller must close what
 *   it opened
 */
export async function connectWithAttempts(connect: () => Promise<void>, options: ConnectOptions): Promise<void> {
  const { name, where, advice, attempts, log, signal } = options;
  let attempt = 0;
  /** What an interruption leaves to be mended. */
  let open = `. ${advice}`;
  try {
    const connecting = pRetry(
      async () => {
        attempt++;
        try {
          await connect();
        } catch (error: unknown) {
          if (error instanceof TrawlError) throw new AbortError(error);
          const refusal = await refusalOf(error, options);
          if (refusal === undefined) throw error;
          if (attempts === Number.POSITIVE_INFINITY) throw new RefusedError(refusal, { cause: error });
          throw new AbortError(new ConfigurationError([`${name} at ${where} ${refusal}`], { cause: error }));
        }
      },
      {
        retries: attempts === Number.POSITIVE_INFINITY ? attempts : attempts - 1,
        factor: 1.5,
        minTimeout: 500,
        maxTimeout: 5_000,
        signal,
        onFailedAttempt: ({ error, attemptNumber }) => {
          const reason = messageOf(error);
          // Whoever has reached it needs no advice on how to.
          open = `: ${error instanceof RefusedError || error instanceof NotNowError ? reason : advised(reason, advice)}`;
          log.warn({ what: `${name} at ${where}: ${reason}` }, `Attempt ${attemptNumber} failed:`);
        },
      },
    );
    await unlessAborted(connecting, signal, () => `interrupted while connecting to ${name} at ${where}${open}`);
  } catch (error: unknown) {
    if (error instanceof TrawlError) throw error;
    const reason = messageOf(error);
    const tried = attempt === 1 ? '1 attempt' : `${attempt} attempts`;
    const message =
      error instanceof NotNowError
        ? `${name} at ${where} can't be used, after ${tried}: ${reason.replace(/\.$/, '')}`
        : `${name} at ${where} can't be reached, after ${tried}: ${advised(reason, advice)}`;
    throw new UnavailableError(message, { cause: error });
  }
  const line = `Connected to ${name} on attempt ${attempt}`;
  if (attempt > 1) log.warn({}, line);
  else log.info({}, line);
}

/**
 * Waits for a first call to a connected service, which might never answer.
 *
 * @throws InterruptedError at once when `signal` is aborted
 */
export async function answered<T>(call: Promise<T>, name: string, signal: AbortSignal): Promise<T> {
  return await unlessAborted(call, signal, () => `interrupted while ${name} did not answer`);
}

function advised(reason: string, advice: string): string {
  return `${reason.replace(/\.$/, '')}. ${advice}`;
}

async function unlessAborted<T>(call: Promise<T>, signal: AbortSignal | undefined, message: () => string): Promise<T> {
  const interruption = Promise.withResolvers<never>();
  const interrupt = (): void => interruption.reject(new InterruptedError(message()));
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt);
  try {
    return await Promise.race([interruption.promise, call]);
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

async function refusalOf(error: unknown, { refusals, words, probed }: ConnectOptions): Promise<string | undefined> {
  const said = messageOf(error).replace(/\.$/, '');
  const refusal = refusalIn(said, refusals, codeOf(error));
  if (refusal !== undefined || probed === undefined) return refusal ?? certificateProblem(said, words);
  const reason = await probedReason(said, probed);
  return refusalIn(reason, refusals) ?? certificateProblem(reason, words);
}

function refusalIn(said: string, refusals: readonly Refusal[], code = ''): string | undefined {
  const [, what, check, told = said] = refusals.find(([pattern]) => pattern.test(`${code} ${said}`)) ?? [];
  return what === undefined ? undefined : `refuses the ${what}: ${told}. Check ${check}`;
}
