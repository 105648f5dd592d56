import { RunLostError } from '../../producer/run-lost.ts';
import type { Context } from '../command.ts';
import { printJson } from '../text/output.ts';

/** Prints, for scripts, the state `unknown` of a run that the store lost while URLs were offered to it. People read the error. */
export function tellIfLost(error: unknown, { json }: Context): void {
  if (json && error instanceof RunLostError) printJson({ run: error.run, state: 'unknown' });
}
