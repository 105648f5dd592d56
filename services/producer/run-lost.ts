import { TrawlError } from '../../shared/runtime/errors.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';

/**
 * The run that was opened is gone from the store, or another one of its name has taken its place. The fate of its URLs is unknown; stored
 * records are kept.
 */
export class RunLostError extends TrawlError {
  override readonly name = 'RunLostError';
  readonly code = 'ERR_RUN_LOST';
  readonly exitCode = 1;
  readonly run: string;

  /** @param mend how to get the URLs back, as the end of a sentence */
  constructor(run: string, mend = `offer its seeds again: ${TRAWL} produce --run ${run} …`) {
    super(`the store has lost the run ${run}: its progress is unknown. Its records are kept; ${mend}`);
    this.run = run;
  }
}
