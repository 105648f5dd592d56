import type { Settlement } from '../../frontier.ts';

type Flat = readonly [
  outcome: string,
  reason: string,
  delayMs: number,
  pauseMs: number,
  pauseReason: string,
  health: 'up' | 'down' | '-',
  bytes: number,
  note: string,
  hostFreeInMs: number,
];

/** A settlement as the arguments of `settle.lua`, in their order. */
export function flatten({ outcome, bytes, hostAnswered, attempt, hostFreeInMs }: Settlement): Flat {
  const pause = outcome.kind === 'defer' ? outcome.host : undefined;
  return [
    outcome.kind,
    'reason' in outcome ? outcome.reason : '',
    'inMs' in outcome ? Math.round(outcome.inMs ?? 0) : 0,
    Math.round(pause?.pauseMs ?? 0),
    pause?.reason ?? '',
    hostAnswered === undefined ? '-' : hostAnswered ? 'up' : 'down',
    bytes ?? 0,
    attempt === undefined ? '' : JSON.stringify(attempt),
    Math.round(hostFreeInMs ?? 0),
  ];
}
