/** The error statuses whose answers are pages for a step: a list of them, or all. */
export type TakenStatuses = readonly number[] | 'all';

/** The statuses of client and server errors (RFC 9110 sections 15.5 and 15.6). */
const FIRST_ERROR = 400;
const LAST_ERROR = 599;

/** Returns whether a status is that of an error. */
export function isErrorStatus(status: number): boolean {
  return status >= FIRST_ERROR;
}

/** Returns whether an answer of this status is a page, although it is an error. */
export function isTakenStatus(taken: TakenStatuses | undefined, status: number): boolean {
  if (taken === undefined || !isErrorStatus(status)) return false;
  return taken === 'all' || taken.includes(status);
}

/** Returns the problems with the statuses that an author has written, each a whole sentence. */
export function takenStatusProblems(written: unknown): string[] {
  if (written === undefined || written === 'all') return [];
  if (!Array.isArray(written)) return ["expected statuses to be a list such as [404, 410], or 'all'"];
  return written.filter((each) => !isTakeable(each)).map((each) => `statuses: ${problemWith(each)}`);
}

function isTakeable(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= FIRST_ERROR && Number(status) <= LAST_ERROR;
}

function problemWith(written: unknown): string {
  const expected = `expected numbers from ${FIRST_ERROR} to ${LAST_ERROR}, got ${JSON.stringify(written) ?? String(written)}`;
  if (typeof written !== 'number') return expected;
  if (written >= 200 && written < 300) return `${expected}: answers of 2xx are pages anyway`;
  if (written >= 300 && written < FIRST_ERROR) return `${expected}: redirects are followed, and never pages`;
  return expected;
}
