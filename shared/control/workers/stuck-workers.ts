import type { LiveWorker } from '../../ports/roster.ts';

/**
 * Is a worker stuck? It is if it beats and has tasks in hand, but has settled none for longer than one page can take. A worker of an
 * earlier version doesn't report that, and counts as healthy.
 */
export function isStuck({ inHand, progress, silentMs }: Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>): boolean {
  return inHand > 0 && progress !== undefined && progress.unsettledMs + silentMs > progress.stuckAfterMs;
}
