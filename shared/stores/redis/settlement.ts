import type { Settlement } from '../../ports/frontier/frontier.ts';
import { wellFormedJson } from '../../runtime/printable.ts';
import type { TroubleKind } from '../../task/host/host-trouble.ts';
import { formOf } from '../../task/task/form.ts';
import { writeVisit } from './forms/page-entry.ts';

type Flat = readonly [
  outcome: string,
  reason: string,
  delayMs: number,
  pause: number | 'grow' | 'alone' | '',
  pauseReason: string,
  health: 'up' | 'down' | '-',
  fault: string,
  slowReason: string,
  bytes: number,
  note: string,
  hostFreeInMs: number,
  movedTo: string,
  movedForm: string,
  page: string,
  tooDeep: number,
  outOfScope: number,
  unmet: number,
  stamp: string,
  links: number,
  spoke: 1 | '',
  troubleKind: TroubleKind | '',
  troubleReason: string,
  troublePauseMs: number,
  input: string,
  claimed: string,
  refusedBytes: number | '',
  leavesRoom: 1 | '',
];

/** Returns a settlement as the arguments of `settle.lua`, in their order. */
export function flatten(settlement: Settlement): Flat {
  const { outcome, bytes, attempt, hostFreeInMs, moved, page, leftOut, tally, input, claimed, refused } = settlement;
  const { hostAnswered, hostSpoke = false, hostTrouble, hostFault, slowDown } = settlement;
  const pause = outcome.kind === 'defer' ? outcome.host : undefined;
  return [
    outcome.kind,
    'reason' in outcome ? outcome.reason : '',
    'inMs' in outcome ? Math.round(outcome.inMs ?? 0) : 0,
    pauseOf(outcome),
    pause?.reason ?? '',
    hostAnswered === undefined ? '-' : hostAnswered ? 'up' : 'down',
    hostFault ?? '',
    slowDown ?? '',
    bytes ?? 0,
    // Scripts decode it, and Lua's cjson refuses half a surrogate pair: a task whose error text was cut inside an emoji would never end.
    attempt === undefined ? '' : wellFormedJson(JSON.stringify(attempt)),
    Math.round(hostFreeInMs ?? 0),
    moved?.host ?? '',
    moved === undefined ? '' : formOf(moved),
    writeVisit(page),
    leftOut?.depth ?? 0,
    leftOut?.scope ?? 0,
    leftOut?.condition ?? 0,
    tally?.stamp ?? '',
    tally?.links ?? 0,
    hostSpoke ? 1 : '',
    hostTrouble?.kind ?? '',
    hostTrouble?.reason ?? '',
    Math.round(hostTrouble?.pauseMs ?? 0),
    input ?? '',
    claimed ?? '',
    refused === undefined ? '' : Math.round(refused.bytes),
    refused?.leavesRoom === true ? 1 : '',
  ];
}

function pauseOf(outcome: Settlement['outcome']): Flat[3] {
  if (outcome.kind !== 'defer') return '';
  if (outcome.throttled === true) return 'alone';
  if (outcome.host === undefined) return '';
  return outcome.host.pauseMs === undefined ? 'grow' : Math.round(outcome.host.pauseMs);
}
