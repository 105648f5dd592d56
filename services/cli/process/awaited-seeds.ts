import { duration } from '../../../shared/control/format.ts';
import { say } from '../text/output.ts';

/** Says that a crawler's own seeds take their time. */
export function sayWaiting(crawler: string, waitedMs: number): void {
  say(`The seeds of crawler ${crawler} have not come yet, after ${duration(waitedMs)}`);
}
