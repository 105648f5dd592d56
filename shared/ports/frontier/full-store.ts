/** An optional ability of a store that keeps everything in memory. While it is full, tasks whose links it refused wait for room. */
export interface FullStore {
  /**
   * Pauses running runs that can make no progress because the store is full: nothing is in flight, and every waiting task
   * waits for room. They resume by themselves once there is room, or when somebody resumes them. Returns the runs it paused.
   */
  pauseStuck(): Promise<readonly PausedRun[]>;
}

export interface PausedRun {
  readonly run: string;
  readonly reason: string;
}
