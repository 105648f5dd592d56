/** Fields of a record that come before those of its data, even if no record has them. */
export const FIRST = ['url', 'finalUrl', 'outcome', 'reason', 'status', 'title'] as const;
/** A column only if the records are of several steps. */
export const STEP = 'step';
/** Fields that come after those of the data, if a record has them. */
export const LAST = [
  'error',
  'from',
  'contentType',
  'bytes',
  'fetchedAt',
  'durationMs',
  'attempt',
  'depth',
  'fromCache',
  'unchanged',
  'truncated',
  'contentHash',
  'task',
  'redirects',
  'contentOf',
  'content',
] as const;
/** The line of the joined list, as given. */
export const GIVEN = 'given';

/** Headers of all columns of a record's own fields, as opposed to those of the data that its crawler has made. */
export const RECORD_COLUMNS: ReadonlySet<string> = new Set([...FIRST, STEP, ...LAST, GIVEN]);
