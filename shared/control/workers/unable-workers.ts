import type { LiveWorker } from '../../ports/roster.ts';
import { counted } from '../format.ts';

/** State of a worker that is connected, or tries to connect, and gets no deliveries. */
export const WITHOUT_BROKER = 'waiting: broker';
/** A worker that has just started, or is about to consume again. */
const ABOUT_TO_BEGIN = 'waiting: to begin';
const WAITING = 'waiting: ';

/**
 * Returns a sentence for each reason, other than the broker, for which live workers consume nothing: a full disk on one machine, say. The
 * rest of the fleet works on, so nothing else shows it.
 */
export function unableWorkers(workers: readonly Pick<LiveWorker, 'id' | 'state'>[]): readonly string[] {
  const unable = workers.filter(
    ({ state }) => state.startsWith(WAITING) && state !== WITHOUT_BROKER && state !== ABOUT_TO_BEGIN,
  );
  const byReason = Map.groupBy(unable, ({ state }) => state.slice(WAITING.length));
  return [...byReason].map(([why, those]) => {
    const others = those.length > 1 ? ` and ${those.length - 1} more` : '';
    return `${counted(those.length, 'worker consumes', 'workers consume')} nothing: ${those[0]?.id}${others}: ${why}`;
  });
}
