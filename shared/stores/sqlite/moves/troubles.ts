import type { Settlement } from '../../../ports/frontier/frontier.ts';
import type { HostLineTrouble } from '../../../ports/run-overview.ts';
import type { HostsDown } from '../../../ports/runs.ts';
import { expectedDownAt, MOST_NAMED_DOWN, type TroubleTimes } from '../../../task/host/host-trouble.ts';
import type { RunHostRow, RunRow } from './rows/run-rows.ts';

type HostTroubleRow = Pick<
  RunHostRow,
  'troubleSince' | 'troubleLast' | 'troubleKind' | 'troubleReason' | 'silentSince' | 'isDown'
>;

/** The values of these columns for a host without errors. */
export const NO_TROUBLE: HostTroubleRow = {
  troubleSince: null,
  troubleLast: null,
  troubleKind: null,
  troubleReason: null,
  silentSince: null,
  isDown: 0,
};

/** Updates a host's troubles after a request. Returns whether it has never answered the run, as far as is known. */
export function noteHealth(
  host: RunHostRow,
  { hostAnswered, hostSpoke = false, hostTrouble }: Pick<Settlement, 'hostAnswered' | 'hostSpoke' | 'hostTrouble'>,
  now: number,
): boolean {
  const { kind: given, reason } = hostTrouble ?? { kind: 'answered', reason: '' };
  if (hostSpoke || hostAnswered === true || (hostAnswered === false && given === 'answered')) host.hasAnswered = 1;
  if (hostAnswered === undefined) return false;
  if (hostAnswered) {
    Object.assign(host, NO_TROUBLE);
    return false;
  }
  const kind = given === 'silent' && host.hasAnswered === 1 ? 'answered' : given;
  host.troubleSince ??= now;
  host.troubleLast = now;
  host.troubleKind = kind;
  host.troubleReason = reason;
  host.silentSince = kind === 'silent' ? (host.silentSince ?? now) : null;
  return kind === 'silent';
}

/** Returns the times of a host's errors; undefined if it gave none. */
export function timesOf({ troubleSince, troubleLast, silentSince }: RunHostRow): TroubleTimes | undefined {
  if (troubleSince === null || troubleLast === null) return undefined;
  return { since: troubleSince, last: troubleLast, silentSince };
}

/** Counts a host that is given up; the first ones are stored by name. */
export function noteDown(run: RunRow, row: RunHostRow): void {
  const { host, troubleKind, troubleReason, isDown } = row;
  if (isDown === 1) return;
  row.isDown = 1;
  run.hostsDown++;
  if (run.hostsDown > MOST_NAMED_DOWN) return;
  const named = namedDown(run).filter((other) => other.host !== host);
  const one = { host, kind: troubleKind ?? 'answered', reason: troubleReason ?? '' } as const;
  run.namedDown = JSON.stringify([...named, one].sort((a, b) => (a.host < b.host ? -1 : 1)));
}

export function hostsDownOf(run: RunRow): HostsDown {
  return { count: run.hostsDown, named: namedDown(run) };
}

function namedDown({ namedDown }: RunRow): HostsDown['named'] {
  return JSON.parse(namedDown) as HostsDown['named'];
}

/** Returns a host's trouble to show to people; undefined if it gives no errors. */
export function lineTroubleOf(run: RunRow, row: RunHostRow): HostLineTrouble | undefined {
  const times = timesOf(row);
  if (times === undefined) return undefined;
  const { giveUpMs } = run;
  return {
    kind: row.troubleKind ?? 'answered',
    reason: row.troubleReason ?? '',
    ...(giveUpMs === null ? {} : { giveUpAt: expectedDownAt(times, giveUpMs) }),
  };
}
