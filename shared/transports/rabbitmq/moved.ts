import { z } from 'zod';
import type { MovedByBroker } from '../../ports/transport.ts';
import { LAST_MOMENT_MS, SECOND_MS } from '../../task/durations.ts';

const schema = z.object({
  'x-first-death-queue': z.string(),
  'x-first-death-reason': z.string(),
  // The newest first; a timestamp of AMQP is in seconds.
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

/** What the headers say of a message that the broker has dead-lettered itself; nothing of any other. */
export function movedOf(headers: unknown): MovedByBroker | undefined {
  const read = schema.safeParse(headers);
  if (!read.success) return undefined;
  const { 'x-first-death-queue': from, 'x-first-death-reason': why, 'x-death': deaths } = read.data;
  const seconds = deaths[0]?.time.value;
  return { from, why, ...(seconds === undefined ? {} : { at: seconds * SECOND_MS }) };
}
