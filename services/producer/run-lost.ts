import { TrawlError } from '../../shared/runtime/errors.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';

/**
 * The run that was opened is gone from the store, or another of its name stands in its place. What became of its URLs is
 * unknown; records that were stored are kept.
 */
export class RunLostError extends TrawlError {
  override readonly name = 'RunLostError';
  readonly code = 'ERR_RUN_LOST';
  readonly exitCode = 1;
  readonly run: string;

  /** @param mend what brings back the URLs, as the end of a sentence */
  constructor(run: string, mend = `offer its seeds again: ${TRAWL} produce --run ${run} …`) {
    super(`the store has lost the run ${run}: how far it came is unknown. Its records are kept; ${mend}`);
    this.run = run;
  }
}
