/**
 * The marks: which URLs count as taken. They belong to the frontier, which sets them; a person drops some through this.
 *
 * Implementations stand beside the frontier's, in `stores/redis` and `stores/sqlite`.
 */
export interface Marks {
  /**
   * Which of these marks a run has of its own, in their order: taken by it (with `dedup: run`, or past a shared mark), or failed
   * in it.
   */
  ofRun(run: string, marks: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Drops marks, those that failed runs keep as well, so that the URLs are taken again. Marks of tasks that wait or are in
   * flight stay: a second task for the same URL would be worked beside the first. Long sets are gone through in chunks;
   * what is offered meanwhile stays. What incremental runs remember of these pages goes too, and so do dead letters that lie beside the
   * marks: a broker's stay. A dry call changes nothing: it says what a call would do now.
   */
  forget(which: Forgettable, how?: HowToForget): Promise<Forgotten>;
}

export type Forgettable = { readonly mark: string } | { readonly host: string } | 'all';

export interface HowToForget {
  /** Counts, and changes nothing. */
  readonly isDry?: boolean;
  /** Is told how many more marks it has gone through. */
  readonly onMarks?: (more: number) => void;
}

export interface Forgotten {
  /** Marks dropped: a URL that two runs marked counts twice. */
  readonly forgotten: number;
  /** Marks that stay, since their task waits or is in flight. */
  readonly kept: number;
  /** Dead letters deleted; left out where a broker keeps them. */
  readonly letters?: number;
}
