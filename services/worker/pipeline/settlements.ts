import type { Settlement } from '../../../shared/ports/frontier/frontier.ts';
import { spent } from './fate.ts';
import { rememberedOf } from './revisit.ts';
import { type Ending, noteOf, type Visit } from './visit.ts';

/** Returns the settlement that tells the frontier how a task ended. */
export function settlementOf(visit: Visit, ending: Ending, bytes: number, now: number): Settlement {
  const { outcome, hostAnswered, hostFault, hostTrouble, slowDown, leftOut, tally, input, claimed } = ending;
  const attempt = noteOf(visit, ending, now);
  const page = rememberedOf(visit, ending, now);
  const isAgain = outcome.kind === 'retry' || outcome.kind === 'defer';
  return {
    outcome,
    bytes,
    // The frontier might have to put back even a task that is done.
    ...wayOf(isAgain ? visit : spent(visit)),
    ...(hostAnswered === undefined ? {} : { hostAnswered }),
    ...(hostTrouble === undefined ? {} : { hostTrouble }),
    ...(hostFault === undefined ? {} : { hostFault }),
    ...(slowDown === undefined ? {} : { slowDown }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...(tally === undefined ? {} : { tally }),
    ...(input === undefined ? {} : { input }),
    ...(claimed === undefined ? {} : { claimed }),
    ...(page === undefined ? {} : { page }),
  };
}

/** Returns a visit's progress along its redirects, for its settlement. */
export function wayOf({ moved, spoke = false }: Visit): Pick<Settlement, 'moved' | 'hostSpoke'> {
  return { ...(moved === undefined ? {} : { moved }), ...(spoke ? { hostSpoke: true } : {}) };
}
