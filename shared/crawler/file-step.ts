import { z } from 'zod';

/** Maximum bytes of a file that a step can ask for: the file is held in memory until it is on disk. */
const MOST_FILE_BYTES = 104_857_600;

/** The kept of a link to a file. */
const keptSchema = z.object({
  from: z.string().optional(),
  maxBytes: z.int().min(1).max(MOST_FILE_BYTES).optional(),
  /** The `session` of the step that asks for the file, if it sets one, `false` included. */
  session: z.union([z.string(), z.literal(false)]).optional(),
});

/** The record of a stored file. */
const storedSchema = z.object({
  url: z.string(),
  path: z.string(),
  name: z.string().nullable(),
  bytes: z.int(),
  contentType: z.string().nullable(),
  hash: z.string(),
  from: z.string().optional(),
});
export type StoredFile = z.output<typeof storedSchema>;

/**
 * The step that every crawler with steps has besides its own. Its pages are files, stored beside the records. The worker stores them
 * itself, so the step's function is never called.
 */
export const FILE_STEP = {
  name: 'download',
  key: 'download',
  to: [],
  record: storedSchema,
  run: (): never => {
    throw new Error('the step download stores files: nothing else takes its place');
  },
} as const;

/** Options of `download`. */
export interface DownloadHow {
  /** Maximum bytes of a file; larger ones are left out, reason `size`. Default: `MAX_BODY`. At most 104,857,600. */
  readonly maxBytes?: number;
}

/** Returns the problem with the options of `download`; undefined if they are valid. */
export function downloadProblem({ maxBytes }: DownloadHow): string | undefined {
  if (keptSchema.safeParse({ maxBytes }).success) return undefined;
  return `expected maxBytes to be a number of bytes from 1 to ${MOST_FILE_BYTES}, got ${String(maxBytes)}`;
}

/** Returns the field `from` of a file's record, the first page that asked for the file; empty for other tasks. */
export function askedFrom(task: { readonly step: string; readonly kept?: unknown }): { readonly from?: string } {
  const { from } = fileAskedFor(task) ?? {};
  return from === undefined ? {} : { from };
}

/** Returns the kept of a task for a file; undefined for other tasks. Any field can be missing, since other programs can write tasks. */
export function fileAskedFor({ step, kept }: { readonly step: string; readonly kept?: unknown }) {
  if (step !== FILE_STEP.key) return undefined;
  const read = keptSchema.safeParse(kept ?? {});
  return read.success ? read.data : {};
}
