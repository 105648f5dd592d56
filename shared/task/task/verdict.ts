/**
 * Converts the return value of a crawler's yes-or-no function to a boolean, as an `if` would.
 *
 * @param asked name of the function, for the message
 * @throws Error if the value is a promise, which would always mean yes
 */
export function verdictOf(said: unknown, asked: string): boolean {
  if (typeof said !== 'object' || said === null || !('then' in said)) return Boolean(said);
  // Nobody awaits the promise: its existence is the failure reported here, so a rejection is ignored.
  void Promise.resolve(said).catch(() => {});
  throw new Error(`expected ${asked} to say yes or no, got a promise: it can't be async`);
}
