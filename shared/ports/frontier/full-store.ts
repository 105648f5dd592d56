/** An optional ability of a store that keeps everything in memory, in which tasks wait for room whose links it had none for. */
export interface FullStore {
  /**
   * Pauses running runs of which nothing is in flight, and nothing that waits can be taken in the memory that there is. They go on by
   * themselves when there is room, or when somebody resumes them. Returns those that it paused, and why.
   */
  pauseStuck(): Promise<readonly PausedRun[]>;
}

export interface PausedRun {
  readonly run: string;
  readonly reason: string;
}
