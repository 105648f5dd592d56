import type { Pause } from '../../ports/host-gate.ts';
import type { HostCircumstances } from '../../ports/host-overview.ts';
import type { HostLine, HostLineTrouble } from '../../ports/run-overview.ts';
import { clockTime, duration, pace } from '../format.ts';

type PauseParts = Omit<Pause, 'isUnreachable'> & { readonly isUnreachable?: boolean | undefined };

/**
 * Describes a pause: `paused by hand (maintenance)`, `paused for 52 s more (HTTP 429)`,
 * `5 connection errors in a row: next try in 42 s`.
 */
export function pauseText({ ms, reason, byHand, isUnreachable = false }: PauseParts): string {
  if (byHand) return reason === 'by hand' ? 'paused by hand' : `paused by hand (${reason})`;
  if (isUnreachable)
    return `${reason === '' ? 'failing' : reason}: ${ms > 0 ? `next try in ${duration(ms)}` : 'being tried'}`;
  return `paused for ${duration(ms)} more${reason === '' ? '' : ` (${reason})`}`;
}

/**
 * Says why and when a host will be given up: `robots.txt 503; giving up at 04:08 (--host-give-up)`,
 * `it never answered (connection refused); giving up at 04:08`. Undefined if the host may be waiting for another reason.
 */
export function troubleText({ trouble, byHand, isUnreachable, pausedMs }: HostLine, now: number): string | undefined {
  if (trouble === undefined || byHand) return undefined;
  const { kind, reason } = trouble;
  const isWaitedFor = kind !== 'answered' || isUnreachable || (pausedMs > 0 && reason.startsWith('robots.txt'));
  if (!isWaitedFor || reason === '') return undefined;
  const why = kind === 'silent' ? `it never answered (${reason})` : reason;
  return trouble.giveUpAt === undefined ? why : `${why}; ${giveUpText(trouble, now)}`;
}

/** Says when a host will be given up, with the flag if that decides: `giving up at 04:08 (--host-give-up)`. */
export function giveUpText({ kind, giveUpAt = 0 }: Pick<HostLineTrouble, 'kind' | 'giveUpAt'>, now: number): string {
  const text = `giving up at ${clockTime(giveUpAt, now)}`;
  return kind === 'silent' ? text : `${text} (--host-give-up)`;
}

/** Describes what a host's tasks wait for: its pause, or its pace and the reason for that. */
export function hostText(host: HostCircumstances): string {
  const { pausedMs: ms, reason, byHand, isUnreachable } = host;
  return ms > 0 || isUnreachable ? pauseText({ ms, reason, byHand, isUnreachable }) : paceText(host);
}

/** Describes a host's pace: `60/min`, `15/min, since its answers take 4.0 s`, `slowed to 1 per 8.0 s: HTTP 429`. */
export function paceText({ intervalMs, because, responseMs = 0, slowReason = '' }: HostCircumstances): string {
  if (intervalMs === 0) return 'no rate limit, only --host-concurrency';
  switch (because) {
    case 'rate':
      return pace(intervalMs);
    case 'answers':
      return `${pace(intervalMs)}, since its answers take ${duration(responseMs)}`;
    case 'robots':
      return `${pace(intervalMs)}, as its robots.txt asks`;
    case 'slowed':
      return `slowed to 1 per ${duration(intervalMs)}: ${slowReason}`;
  }
}
