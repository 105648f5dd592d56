import type { Settlement } from '../../frontier.ts';
import { writeVisit } from './page-entry.ts';

type Flat = readonly [
  outcome: string,
  reason: string,
  delayMs: number,
  pause: number | 'grow' | '',
  pauseReason: string,
  health: 'up' | 'down' | '-',
  fault: string,
  slowReason: string,
  bytes: number,
  note: string,
  hostFreeInMs: number,
  movedTo: string,
  redirects: string,
  page: string,
];

/** A settlement as the arguments of `settle.lua`, in their order. */
export function flatten(settlement: Settlement): Flat {
  const { outcome, bytes, hostAnswered, hostFault, slowDown, attempt, hostFreeInMs, moved, page } = settlement;
  const pause = outcome.kind === 'defer' ? outcome.host : undefined;
  return [
    outcome.kind,
    'reason' in outcome ? outcome.reason : '',
    'inMs' in outcome ? Math.round(outcome.inMs ?? 0) : 0,
    pause === undefined ? '' : pause.pauseMs === undefined ? 'grow' : Math.round(pause.pauseMs),
    pause?.reason ?? '',
    hostAnswered === undefined ? '-' : hostAnswered ? 'up' : 'down',
    hostFault ?? '',
    slowDown ?? '',
    bytes ?? 0,
    attempt === undefined ? '' : JSON.stringify(attempt),
    Math.round(hostFreeInMs ?? 0),
    moved?.host ?? '',
    moved === undefined ? '' : JSON.stringify(moved.redirects),
    writeVisit(page),
  ];
}
