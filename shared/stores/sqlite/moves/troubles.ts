import type { Settlement } from '../../../ports/frontier/frontier.ts';
import type { HostLineTrouble } from '../../../ports/run-overview.ts';
import type { HostsDown } from '../../../ports/runs.ts';
import { expectedDownAt, MOST_NAMED_DOWN, type TroubleTimes } from '../../../task/host/host-trouble.ts';
import type { RunHostRow, RunRow } from './rows/run-rows.ts';

type HostTroubleRow = Pick<
  RunHostRow,
  'troubleSince' | 'troubleLast' | 'troubleKind' | 'troubleReason' | 'silentSince' | 'isDown'
>;

/** What a host that gives no errors has in these columns. */
export const NO_TROUBLE: HostTroubleRow = {
  troubleSince: null,
  troubleLast: null,
  troubleKind: null,
  troubleReason: null,
  silentSince: null,
  isDown: 0,
};

/** Takes in what a request showed. Returns whether the host has never answered the run, as far as is known. */
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

/** A host's errors; nothing if it gave none. */
export function timesOf({ troubleSince, troubleLast, silentSince }: RunHostRow): TroubleTimes | undefined {
  if (troubleSince === null || troubleLast === null) return undefined;
  return { since: troubleSince, last: troubleLast, silentSince };
}

/** Counts a host that is given up, and names the first ones. */
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

/** For people; nothing if the host gives no errors. */
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
