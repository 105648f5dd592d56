import type { RunState } from '../../shared/ports/runs.ts';
import { TrawlError } from '../../shared/runtime/errors.ts';

/** The run takes no URLs any more. Those accepted before stay what they are; nothing else was offered. */
export class RunClosedError extends TrawlError {
  override readonly name = 'RunClosedError';
  readonly code = 'ERR_RUN_CLOSED';
  readonly exitCode = 1;
  readonly run: string;

  /** @param state as the store knows it; nothing if it doesn't know the run */
  constructor(run: string, state: RunState | undefined) {
    super(`run ${run} takes no URLs: ${state === undefined ? 'the store has lost it' : `it is ${state}`}`);
    this.run = run;
  }
}
