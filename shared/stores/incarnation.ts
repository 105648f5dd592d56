import { randomBytes } from 'node:crypto';

/** A new run's incarnation, which no other run opened under its id ever had; see {@link OpenedRun.incarnation}. */
export function newIncarnation(): string {
  return randomBytes(8).toString('hex');
}
