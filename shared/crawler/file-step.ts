import { z } from 'zod';

/** The longest file that a step may ask for, in bytes: it is held in memory until it is on the disk. */
const MOST_FILE_BYTES = 104_857_600;

/** What a link to a file keeps. */
const keptSchema = z.object({
  from: z.string().optional(),
  maxBytes: z.int().min(1).max(MOST_FILE_BYTES).optional(),
  /** The session of the step that asks for it, if that names one or says `false`. */
  session: z.union([z.string(), z.literal(false)]).optional(),
});

/** A stored file, as its record has it. */
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
 * The step that every crawler of steps has besides its own: its pages are files, stored beside the records. A worker does that
 * itself, so its function is never called.
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

/** What `download` says of its links. */
export interface DownloadHow {
  /** A larger file is left out, reason `size`. Default: `MAX_BODY`; at most 104,857,600. */
  readonly maxBytes?: number;
}

/** What is wrong with it; nothing if it is fine. */
export function downloadProblem({ maxBytes }: DownloadHow): string | undefined {
  if (keptSchema.safeParse({ maxBytes }).success) return undefined;
  return `expected maxBytes to be a number of bytes from 1 to ${MOST_FILE_BYTES}, got ${String(maxBytes)}`;
}

/** The page that asked for a file first, as a field of its record; none for what is no file. */
export function askedFrom(task: { readonly step: string; readonly kept?: unknown }): { readonly from?: string } {
  const { from } = fileAskedFor(task) ?? {};
  return from === undefined ? {} : { from };
}

/** What is known of a file that is to be fetched. Other programs may have written the task, so all of it may be missing. */
export function fileAskedFor({ step, kept }: { readonly step: string; readonly kept?: unknown }) {
  if (step !== FILE_STEP.key) return undefined;
  const read = keptSchema.safeParse(kept ?? {});
  return read.success ? read.data : {};
}
