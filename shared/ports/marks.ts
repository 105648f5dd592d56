/**
 * The marks: which URLs count as taken. The frontier owns and sets them; people drop some through this.
 *
 * Implementations: beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface Marks {
  /**
   * Returns, for each mark in the order given, whether the run has it as its own: the URL was taken by it (with `dedup: run`, or
   * despite a shared mark), or failed in it.
   */
  ofRun(run: string, marks: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Drops marks, including those of failed tasks, so that the URLs are taken again. Marks of tasks that wait or are in flight
   * stay: a second task for the same URL would be worked beside the first. Long sets are processed in chunks, and marks of URLs
   * offered meanwhile stay. Also drops what incremental runs remember of these pages, and dead letters kept in the same store; a
   * broker's letters stay. A dry call changes nothing, and returns what a real call would do now.
   */
  forget(which: Forgettable, how?: HowToForget): Promise<Forgotten>;
}

export type Forgettable = { readonly mark: string } | { readonly host: string } | 'all';

export interface HowToForget {
  /** Counts, and changes nothing. */
  readonly isDry?: boolean;
  /** Called with the number of marks processed since the last call. */
  readonly onMarks?: (more: number) => void;
}

export interface Forgotten {
  /** Number of marks dropped. A URL that two runs marked counts twice. */
  readonly forgotten: number;
  /** Number of marks that stay because their task waits or is in flight. */
  readonly kept: number;
  /** Number of dead letters deleted. Absent where a broker keeps them. */
  readonly letters?: number;
}
