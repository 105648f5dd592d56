/**
 * The state of a producer.
 *
 * | state                    | meaning                                                       |
 * |--------------------------|---------------------------------------------------------------|
 * | `idle`                   | before `produce` is called                                    |
 * | `reading`                | seeds are read and offered                                    |
 * | `waiting: store is full` | offers are refused for lack of room, and repeated             |
 * | `done`                   | all seeds are offered, and this producer has sealed the run   |
 * | `stopped`                | by the caller or an error; the run waits for another producer |
 * | `unknown`                | the store has lost the run, so its progress can't be known    |
 */
export type ProducerState = 'idle' | 'reading' | 'waiting: store is full' | 'done' | 'stopped' | 'unknown';

/** A producer's progress. Counts are of URLs, except the last three. */
export interface ProducerProgress {
  readonly state: ProducerState;
  /** The sitemap, file or list being read; if there are several, the one begun last. */
  readonly source: string | undefined;
  readonly offered: number;
  readonly accepted: number;
  /** Number of duplicates. */
  readonly known: number;
  /** Number of texts that aren't URLs, whether new or known. */
  readonly malformed: number;
  /** Number of pages that sitemaps list and the run's patterns leave out. */
  readonly unwanted: number;
  /** Pages left out because their sitemaps say they are too old, and sitemaps not read for the same reason. */
  readonly older: { readonly pages: number; readonly sitemaps: number };
  readonly sitemaps: number;
  readonly problems: number;
}
