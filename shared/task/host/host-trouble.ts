import { MINUTE_MS, SECOND_MS } from '../durations.ts';

/**
 * Trouble with a host: a request that got no healthy answer.
 *
 * | kind       | what happened                                                            | the host is given up                  |
 * |------------|--------------------------------------------------------------------------|---------------------------------------|
 * | `answered` | the host answered in this visit, with an error or a robots.txt           | after `HOST_GIVE_UP`                  |
 * | `silent`   | no answer                                                                | after a minute if it never answered this run, otherwise after `HOST_GIVE_UP` |
 * | `outage`   | no answer, and no other host answers this process: our own network is down | after `HOST_GIVE_UP`                |
 */
export interface HostTrouble {
  readonly kind: TroubleKind;
  /** The reason in a few words for people, on one line: `robots.txt 503`, `connection refused`. */
  readonly reason: string;
  /** Pause of a host that has answered before. One that never has is tried again sooner. */
  readonly pauseMs?: number;
}

export type TroubleKind = 'answered' | 'silent' | 'outage';

/** Time from its first failure until a host that never answered the run is given up, provided that a later try has failed too. */
export const SILENT_GIVE_UP_MS = MINUTE_MS;
/** Minimum time between the first failure and that later try. */
export const SILENT_TRIES_SPAN_MS = 30 * SECOND_MS;
/** Longest pause of such a host, and longest wait before a retry of its tasks. */
export const SILENT_PAUSE_MS = 15 * SECOND_MS;

/** Maximum hosts given up that a run lists by name; the others are only counted. */
export const MOST_NAMED_DOWN = 10;

/** Times of a host's first and last error in one run since its last healthy answer. Epoch milliseconds. */
export interface TroubleTimes {
  readonly since: number;
  readonly last: number;
  /** The first failure without an answer, if the host never answered the run; null otherwise. */
  readonly silentSince: number | null;
}

/** Returns the time from which a host is down. */
export function downAt(times: TroubleTimes, giveUpMs: number): number {
  const { since, last, silentSince } = times;
  const hasTriedAgain = silentSince !== null && last - silentSince >= SILENT_TRIES_SPAN_MS;
  return hasTriedAgain ? expectedDownAt(times, giveUpMs) : since + giveUpMs;
}

/** Returns the time from which a host will be down if it keeps being tried and fails. For people. */
export function expectedDownAt({ since, silentSince }: TroubleTimes, giveUpMs: number): number {
  return Math.min(since + giveUpMs, (silentSince ?? Number.POSITIVE_INFINITY) + SILENT_GIVE_UP_MS);
}

/** Is a host down? After a long time without tries it isn't, unless it is paused, so that it is tried once more. */
export function isDown(times: TroubleTimes, giveUpMs: number, now: number, isPaused: boolean): boolean {
  if (now < downAt(times, giveUpMs)) return false;
  const recently = now - times.since < giveUpMs ? SILENT_GIVE_UP_MS : giveUpMs;
  return isPaused || now - times.last < recently;
}
