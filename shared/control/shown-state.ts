/** Returns a run's state for people. A local run that no process crawls stands still, although nobody paused it. */
export function shownState({ state, stoppedAt }: { readonly state: string; readonly stoppedAt?: unknown }): string {
  return state === 'running' && stoppedAt !== undefined ? 'stopped' : state;
}
