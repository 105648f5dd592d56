import type { Pause } from '../../ports/host-gate.ts';

/** The JSON of `pause --host`: the pause that the host was in before, if any, and the new one. */
export function pausedHostJson(host: string, was: Pause | undefined, reason: string): object {
  return { host, was: pauseJson(was), is: { paused: true, byHand: true, reason } };
}

/** The JSON of `resume --host`. */
export function resumedHostJson(host: string, was: Pause | undefined): object {
  return { host, was: pauseJson(was), is: pauseJson(undefined) };
}

function pauseJson(pause: Pause | undefined): object {
  if (pause === undefined) return { paused: false };
  const { ms, reason, byHand } = pause;
  return { paused: true, byHand, reason, ...(byHand ? {} : { ms }) };
}
