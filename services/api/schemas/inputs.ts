import { z } from 'zod';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { LETTER_REASONS } from '../../../shared/task/task/outcome.ts';
import { RUN_ID } from '../../../shared/task/task/task.ts';

export const runIdSchema = z.string().regex(RUN_ID, 'expected a run id: lower-case letters, digits and dashes');
export const runParams = z.object({ run: runIdSchema });

/** A text of whoever does something, shown wherever that is shown. */
export const reasonSchema = z.string().max(500);
/** The body of routes that need none. */
export const reasonBody = z.strictObject({ reason: reasonSchema.optional() }).nullish();

/** The politeness key, as a person may write it. */
export const hostSchema = z
  .string()
  .min(1)
  .max(300)
  .refine((text) => isHost(text), 'expected one host like example.com or example.com:8080');
export const hostParams = z.object({ host: hostSchema });

/** A query's number: how long a list may be. */
export const limitSchema = (most: number, fallback: number) =>
  z.coerce.number().int().min(1).max(most).default(fallback);
/** Which dead letters are meant. */
export const letterFilter = {
  reason: z.enum(LETTER_REASONS).optional(),
  host: hostSchema.optional(),
  run: runIdSchema.optional(),
};

/** A URL longer than this is none that anybody would follow. */
export const MOST_URL_LENGTH = 8_192;
export const urlText = z.string().min(1).max(MOST_URL_LENGTH);

function isHost(text: string): boolean {
  try {
    readHost(text);
    return true;
  } catch {
    return false;
  }
}
