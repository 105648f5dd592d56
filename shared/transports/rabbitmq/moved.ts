import { z } from 'zod';
import type { MovedByBroker } from '../../ports/transport.ts';
import { LAST_MOMENT_MS, SECOND_MS } from '../../task/durations.ts';

const schema = z.object({
  'x-first-death-queue': z.string(),
  'x-first-death-reason': z.string(),
  // The newest first. AMQP timestamps are in seconds.
  'x-death': z
    .array(
      z.object({
        time: z.object({
          value: z
            .number()
            .min(0)
            .max(LAST_MOMENT_MS / SECOND_MS),
        }),
      }),
    )
    .catch([]),
});

/** Reads from a message's headers where it was before the broker dead-lettered it; `undefined` for any other message. */
export function movedOf(headers: unknown): MovedByBroker | undefined {
  const read = schema.safeParse(headers);
  if (!read.success) return undefined;
  const { 'x-first-death-queue': from, 'x-first-death-reason': why, 'x-death': deaths } = read.data;
  const seconds = deaths[0]?.time.value;
  return { from, why, ...(seconds === undefined ? {} : { at: seconds * SECOND_MS }) };
}
