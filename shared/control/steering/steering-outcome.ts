import type { RunProgress, RunState, Steered } from '../../ports/runs.ts';
import { TRAWL } from '../../runtime/started-as.ts';
import { count } from '../format.ts';

export type SteerVerb = 'pause' | 'resume' | 'cancel' | 'seal';

/** The message and exit code of a command that steers a run. */
export interface SteeringOutcome {
  readonly code: 0 | 1;
  readonly sentence: string;
}

const WANTED: Readonly<Record<Exclude<SteerVerb, 'seal'>, RunState>> = {
  pause: 'paused',
  resume: 'running',
  cancel: 'cancelled',
};

/**
 * Describes the result of steering a run.
 *
 * | the run was | pause      | resume      | cancel      | seal        |
 * |-------------|------------|-------------|-------------|-------------|
 * | `running`   | paused     | unchanged   | cancelled   | sealed      |
 * | `paused`    | unchanged  | running     | cancelled   | sealed      |
 * | `cancelled` | unchanged  | error       | unchanged   | unchanged   |
 * | `finished`  | unchanged  | unchanged   | unchanged   | unchanged   |
 */
export function steeringOutcome(
  verb: SteerVerb,
  { was, is }: Steered,
  before: RunProgress,
  after: RunProgress,
): SteeringOutcome {
  const { run } = after;
  if (was === 'finished') return fine(`Run ${run} is finished: there is nothing to ${verb}.`);
  if (was === 'cancelled' && verb === 'resume') {
    const again = `Its URLs can be taken again: ${TRAWL} produce … starts a new run.`;
    return { code: 1, sentence: `Run ${run} is cancelled and can't be resumed. ${again}` };
  }
  if (verb === 'seal' && was !== 'cancelled') return fine(sealed(was, is, before, after));
  if (was === is) {
    if (verb === 'cancel') return fine(`Run ${run} was cancelled already. ${leftOf(after)}`);
    if (verb === 'resume' && after.stoppedAt !== undefined)
      return fine(`Run ${run} is not paused: it has stopped.${crawledByNobody(after)}`);
    return fine(
      verb !== 'seal' && was === WANTED[verb]
        ? `Run ${run} was ${was} already: nothing changed.`
        : `Run ${run} is ${was}: there is nothing to ${verb}.`,
    );
  }
  return fine(`Run ${run}: ${was} → ${is}. ${consequence(verb, before, after)}`);
}

function fine(sentence: string): SteeringOutcome {
  return { code: 0, sentence };
}

function consequence(verb: SteerVerb, before: RunProgress, after: RunProgress): string {
  const { run, waiting, inFlight, cancelled } = after;
  switch (verb) {
    case 'pause':
      return `${count(waiting)} wait; ${count(inFlight)} in flight, to be finished or put back. Resume with: ${TRAWL} resume ${run}`;
    case 'resume':
      return `${count(waiting)} wait.${crawledByNobody(after)}`;
    case 'cancel':
      return `${count(cancelled - before.cancelled)} that waited were dropped. ${leftOf(after)}`;
    case 'seal':
      return '';
  }
}

/** A local run stops with its process. */
function crawledByNobody({ run, stoppedAt }: RunProgress): string {
  return stoppedAt === undefined ? '' : ` No process is crawling it: ${TRAWL} crawl --resume ${run}`;
}

function leftOf({ inFlight }: RunProgress): string {
  return inFlight === 0 ? 'Nothing is in flight.' : `${count(inFlight)} in flight, to be finished or dropped.`;
}

function sealed(was: RunState, is: RunState, before: RunProgress, { run, waiting, inFlight }: RunProgress): string {
  const { open, lost } = before.producers;
  const left = is === 'finished' ? 'nothing was left' : `${count(waiting + inFlight)} left`;
  if (before.sealed) return `Run ${run} was sealed already: ${was}, ${left}.`;
  const producers = [
    lost > 0 ? `${lost} lost` : '',
    open > 0 ? `${open} still at work, which nobody waits for any more` : '',
  ].filter((part) => part !== '');
  const gone = producers.length === 0 ? '' : ` (producers: ${producers.join(', ')})`;
  return `Run ${run} is sealed, no more seeds will come${gone}: ${was} → ${is}, ${left}.`;
}
