import { z } from 'zod';
import { readHost } from '../../../shared/control/hosts/host-name.ts';
import { LETTER_REASONS } from '../../../shared/task/task/outcome.ts';
import { RUN_ID } from '../../../shared/task/task/task.ts';

export const runIdSchema = z.string().regex(RUN_ID, 'expected a run id: lower-case letters, digits and dashes');
export const runParams = z.object({ run: runIdSchema });

/** The caller's reason for a change, shown wherever the change is shown. */
export const reasonSchema = z.string().max(500);
/** Body of routes that need none: an optional reason. */
export const reasonBody = z.strictObject({ reason: reasonSchema.optional() }).nullish();

/** A host, as people write it. */
export const hostSchema = z
  .string()
  .min(1)
  .max(300)
  .refine((text) => isHost(text), 'expected one host like example.com or example.com:8080');
export const hostParams = z.object({ host: hostSchema });

/** Query parameter for the length of a list. */
export const limitSchema = (most: number, fallback: number) =>
  z.coerce.number().int().min(1).max(most).default(fallback);
/** Query parameters that select dead letters. */
export const letterFilter = {
  reason: z.enum(LETTER_REASONS).optional(),
  host: hostSchema.optional(),
  run: runIdSchema.optional(),
};

/** Maximum characters of a URL. Nobody follows longer ones. */
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
