import type { Pause } from '../../shared/host-gate.ts';
import { duration } from './format.ts';

/** A pause in words: `paused by hand (maintenance)`, `paused for 52 s more (HTTP 429)`. */
export function pauseText({ ms, reason, byHand }: Pause): string {
  if (byHand) return reason === 'by hand' ? 'paused by hand' : `paused by hand (${reason})`;
  return `paused for ${duration(ms)} more${reason === '' ? '' : ` (${reason})`}`;
}
