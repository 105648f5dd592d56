import { RunLostError } from '../../producer/run-lost.ts';
import type { Context } from '../command.ts';
import { printJson } from '../text/output.ts';

/** Of a run that the store has lost while it was offered to, a script is told that its state is unknown; people read the error. */
export function tellIfLost(error: unknown, { json }: Context): void {
  if (json && error instanceof RunLostError) printJson({ run: error.run, state: 'unknown' });
}
