import { MINUTE_MS, SECOND_MS } from '../durations.ts';

/**
 * What a request without a healthy answer says of its host.
 *
 * | kind       | what happened                                                            | the host is given up                  |
 * |------------|--------------------------------------------------------------------------|---------------------------------------|
 * | `answered` | it answered in this visit, with an error or a robots.txt                 | after `HOST_GIVE_UP`                  |
 * | `silent`   | no answer                                                                | after a minute if it never answered this run, else after `HOST_GIVE_UP` |
 * | `outage`   | no answer, as of any host that this process asks: our own network is away | after `HOST_GIVE_UP`                  |
 */
export interface HostTrouble {
  readonly kind: TroubleKind;
  /** In a few words, for people: `robots.txt 503`, `connection refused`. One line. */
  readonly reason: string;
  /** How long to pause a host that has answered before; one that never has is tried again sooner. */
  readonly pauseMs?: number;
}

export type TroubleKind = 'answered' | 'silent' | 'outage';

/** A host that never answered a run is given up this long after its first failure there, */
export const SILENT_GIVE_UP_MS = MINUTE_MS;
/** once another try, this much later or more, has failed as well. */
export const SILENT_TRIES_SPAN_MS = 30 * SECOND_MS;
/** Such a host is tried again after this long: neither its pauses nor its tasks' retries are longer. */
export const SILENT_PAUSE_MS = 15 * SECOND_MS;

/** Hosts given up that a run names; the others are counted. */
export const MOST_NAMED_DOWN = 10;

/** A host's errors in one run, since its last healthy answer. Epoch milliseconds. */
export interface TroubleTimes {
  readonly since: number;
  readonly last: number;
  /** Its first failure without an answer, if it never answered the run; null otherwise. */
  readonly silentSince: number | null;
}

/** From when on a host is down. */
export function downAt(times: TroubleTimes, giveUpMs: number): number {
  const { since, last, silentSince } = times;
  const hasTriedAgain = silentSince !== null && last - silentSince >= SILENT_TRIES_SPAN_MS;
  return hasTriedAgain ? expectedDownAt(times, giveUpMs) : since + giveUpMs;
}

/** For people: the same, if tries go on. */
export function expectedDownAt({ since, silentSince }: TroubleTimes, giveUpMs: number): number {
  return Math.min(since + giveUpMs, (silentSince ?? Number.POSITIVE_INFINITY) + SILENT_GIVE_UP_MS);
}

/** Is a host down? After a long time without tries it is asked once more, unless it is paused. */
export function isDown(times: TroubleTimes, giveUpMs: number, now: number, isPaused: boolean): boolean {
  if (now < downAt(times, giveUpMs)) return false;
  const recently = now - times.since < giveUpMs ? SILENT_GIVE_UP_MS : giveUpMs;
  return isPaused || now - times.last < recently;
}
