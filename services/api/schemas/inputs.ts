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

/** Query parameter of a whole number in plain digits. Any other text, such as an empty one or `1e3`, is refused rather than guessed at. */
export const wholeNumber = (least: number, most: number, fallback: number) =>
  // The default is within, so that OpenAPI has it.
  z.preprocess(fromDigits, numberWithin(least, most).default(fallback));
/** Like {@link wholeNumber}, for a parameter that may be absent. */
export const maybeWholeNumber = (least: number, most: number) =>
  z.preprocess(fromDigits, numberWithin(least, most).optional());

const PLAIN_NUMBER = /^(0|[1-9]\d*)$/;
const fromDigits = (text: unknown): unknown =>
  typeof text === 'string' && PLAIN_NUMBER.test(text) ? Number(text) : text;
const numberWithin = (least: number, most: number) => z.int('expected a whole number in digits').min(least).max(most);

/** Query parameter for the length of a list. */
export const limitSchema = (most: number, fallback: number, least = 1) => wholeNumber(least, most, fallback);
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
