import { randomBytes } from 'node:crypto';
import { UsageError } from '../runtime/errors.ts';
import { RUN_ID } from '../task/task/task.ts';

/** Makes a new run id, which sorts by time: `20261121-143005-7f3a`. */
export function newRunId(): string {
  const digits = new Date().toISOString().replaceAll(/[-:]/g, '').slice(0, 15).replace('T', '-');
  return `${digits}-${randomBytes(2).toString('hex')}`;
}

/** Checks a run id. @throws UsageError if the text can't be one */
export function readRunId(text: string): string {
  if (RUN_ID.test(text)) return text;
  throw new UsageError(`expected a run id of lower-case letters, digits and dashes, at most 63, got "${text}"`);
}
