/**
 * What a crawler's function says that is asked for yes or no, as an `if` would take it.
 *
 * @param asked its name, for the message
 * @throws Error if it is a promise, which would always mean yes
 */
export function verdictOf(said: unknown, asked: string): boolean {
  if (typeof said !== 'object' || said === null || !('then' in said)) return Boolean(said);
  // Nobody waits for it: that it is there is the failure that is told.
  void Promise.resolve(said).catch(() => {});
  throw new Error(`expected ${asked} to say yes or no, got a promise: it can't be async`);
}
