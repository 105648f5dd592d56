import type { EmbeddedContext } from '../../process/embedded-fleet.ts';
import type { Context } from '../command.ts';
import { say } from '../text/output.ts';
import { followRun } from './follow-run.ts';
import { expectSeeds } from './plan-crawl.ts';

/** Connects a fleet in one process to the command line, which shows its progress and messages. */
export function embeddedContext({ log, telling }: Context): EmbeddedContext {
  return {
    log,
    follow: (following, signal) => followRun({ ...following, telling }, signal),
    expectSeeds,
    onStopping: (seconds) => say(`Finishing the pages in hand, at most ${seconds} s. Ctrl-C again stops at once.`),
  };
}
