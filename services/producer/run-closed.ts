import type { RunState } from '../../shared/ports/runs.ts';
import { TrawlError } from '../../shared/runtime/errors.ts';

/** The run takes no more URLs. Those accepted before are kept; nothing else was offered. */
export class RunClosedError extends TrawlError {
  override readonly name = 'RunClosedError';
  readonly code = 'ERR_RUN_CLOSED';
  readonly exitCode = 1;
  readonly run: string;

  constructor(run: string, state: RunState) {
    super(`run ${run} takes no URLs: it is ${state}`);
    this.run = run;
  }
}
