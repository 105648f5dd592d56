/**
 * An optional ability of a store that keeps everything in memory: tasks whose links it had no room for wait until it has, and a
 * run of which every task waits for that is paused.
 */
export interface FullStore {
  /**
   * Pauses a running run if nothing of it is in flight, and all that waits can't be taken in the memory that there is. It goes on by
   * itself when there is room, or when somebody resumes it. Returns why it was paused; nothing if it wasn't.
   */
  pauseIfStuck(run: string): Promise<string | undefined>;
}
