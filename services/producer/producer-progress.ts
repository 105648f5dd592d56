/**
 * | state     |                                                                    |
 * |-----------|--------------------------------------------------------------------|
 * | `idle`    | before it is told to produce                                       |
 * | `reading` | seeds are read and offered                                         |
 * | `waiting: store is full` | offers are refused for want of room, and made again |
 * | `done`    | all seeds are offered, and the run knows                           |
 * | `stopped` | by the caller, or by an error: the run waits for another producer  |
 * | `unknown` | the store has lost the run: what became of it can't be told        |
 */
export type ProducerState = 'idle' | 'reading' | 'waiting: store is full' | 'done' | 'stopped' | 'unknown';

/** A producer's progress. Counts are of URLs, except the last three. */
export interface ProducerProgress {
  readonly state: ProducerState;
  /** The sitemap, file or list that is being read; of several, the one begun last. */
  readonly source: string | undefined;
  readonly offered: number;
  readonly accepted: number;
  /** Duplicates. */
  readonly known: number;
  /** Texts that aren't URLs, new or known. */
  readonly malformed: number;
  /** Pages left out as too old by their sitemaps, and sitemaps not read for the same reason. */
  readonly older: { readonly pages: number; readonly sitemaps: number };
  readonly sitemaps: number;
  readonly problems: number;
}
