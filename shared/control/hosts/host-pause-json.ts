import type { Pause } from '../../ports/host-gate.ts';

/** What `pause --host` prints: what the host was in before, and that it is paused now. */
export function pausedHostJson(host: string, was: Pause | undefined, reason: string): object {
  return { host, was: pauseJson(was), is: { paused: true, byHand: true, reason } };
}

/** What `resume --host` prints. */
export function resumedHostJson(host: string, was: Pause | undefined): object {
  return { host, was: pauseJson(was), is: pauseJson(undefined) };
}

function pauseJson(pause: Pause | undefined): object {
  if (pause === undefined) return { paused: false };
  const { ms, reason, byHand } = pause;
  return { paused: true, byHand, reason, ...(byHand ? {} : { ms }) };
}
