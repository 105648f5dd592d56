import { randomBytes } from 'node:crypto';

/** Returns an incarnation for a new run, which no other run under its id ever had; see {@link OpenedRun.incarnation}. */
export function newIncarnation(): string {
  return randomBytes(8).toString('hex');
}
