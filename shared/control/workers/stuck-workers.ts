import type { LiveWorker } from '../../ports/roster.ts';

/**
 * Is a worker stuck: it beats and has tasks in hand, and has settled none for as long as one page may take at most? One of an earlier
 * version doesn't say, and is taken to be well.
 */
export function isStuck({ inHand, progress, silentMs }: Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>): boolean {
  return inHand > 0 && progress !== undefined && progress.unsettledMs + silentMs > progress.stuckAfterMs;
}
