import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { HOLD_AT = '', HOLD_UNTIL = '' } = process.env;
const points = new Set(HOLD_AT.split(','));

/**
 * Called by crawlers of tests: in a process whose `HOLD_AT` names this point, waits until the folder `HOLD_UNTIL` has a file of its
 * name. Tells the test on standard error that it waits, and with which page.
 */
export async function hold(point: string, url?: string): Promise<void> {
  if (!points.has(point)) return;
  process.stderr.write(`${JSON.stringify({ held: point, url })}\n`);
  while (!existsSync(join(HOLD_UNTIL, point))) await sleep(10);
}
