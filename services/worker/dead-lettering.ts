import { deadLetterOf, earlierAttempts } from '../../shared/ports/dead-letter.ts';
import type { AttemptHistory } from '../../shared/ports/frontier/frontier.ts';
import { type Groups, ownerOf } from '../../shared/ports/frontier/groups.ts';
import type { OutgoingMessage, Transport } from '../../shared/ports/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { type Ending, noteOf, type Visit } from './pipeline/visit.ts';

export interface DeadLetteringOptions {
  readonly frontier: AttemptHistory & Pick<Groups, 'owner'>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Number of times that a dead letter is published if no queue accepts it. */
const PUBLISH_ATTEMPTS = 3;
const PUBLISH_AGAIN_MS = 2_000;

/** Publishes the dead letter of a failed task, with its attempts. Returns `false` if, as far as is known, no queue has it. */
export async function publishDeadLetter(visit: Visit, ending: Ending, options: DeadLetteringOptions): Promise<boolean> {
  const { frontier, clock } = options;
  const { outcome, status } = ending;
  if (outcome.kind !== 'failed') return true;
  const earlier = await earlierAttempts(visit.task, visit.state, frontier);
  const note = noteOf(visit, ending, clock.now());
  const attempts = note === undefined ? earlier : [note, ...earlier].slice(0, 10);
  const { reason, detail: error } = outcome;
  const owner = await ownerOf(visit.task, frontier);
  return await publish(
    deadLetterOf(visit.task, visit.state, { reason, status, error, attempts, owner, at: clock.now() }),
    options,
  );
}

/** Publishes a message, and again while it was certainly not accepted: putting its task back would mean fetching the page again. */
async function publish(message: OutgoingMessage, { transport, clock, signal }: DeadLetteringOptions): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const [outcome] = await transport.publish([message]);
    if (outcome === 'confirmed') return true;
    if (outcome === 'unknown' || outcome === 'too_large' || attempt === PUBLISH_ATTEMPTS || signal.aborted)
      return false;
    await clock.sleep(PUBLISH_AGAIN_MS, signal);
  }
}
