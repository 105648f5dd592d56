import type { Logger } from '../../shared/runtime/logger.ts';

/** Returns a log that falls silent when a signal is aborted: a fatal error has a thousand consequences, and should be reported once. */
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
