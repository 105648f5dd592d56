import { duration } from '../../../shared/control/format.ts';
import { say } from '../text/output.ts';

/** Reports that a crawler's own seeds are slow to come. */
export function sayWaiting(crawler: string, waitedMs: number): void {
  say(`Still waiting for the seeds of crawler ${crawler}, after ${duration(waitedMs)}`);
}
