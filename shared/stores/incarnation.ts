import { randomBytes } from 'node:crypto';

/** What tells a new run from all others that were ever opened under its id; see {@link OpenedRun.incarnation}. */
export function newIncarnation(): string {
  return randomBytes(8).toString('hex');
}
