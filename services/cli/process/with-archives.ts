import { type ConnectOptions, connectInspector } from '../../../shared/backends/backends.ts';
import { openRecords } from '../../../shared/backends/records.ts';
import type { RecordSource } from '../../../shared/ports/sink.ts';
import type { DeadLetters } from '../../../shared/ports/transport.ts';

/** Runs an action on the dead letters of the fleet, and hangs up. */
export async function withLetters<T>(
  options: ConnectOptions,
  action: (letters: DeadLetters) => Promise<T>,
): Promise<T> {
  const inspector = await connectInspector(options);
  try {
    return await action(inspector);
  } finally {
    await inspector.stop();
  }
}

/** Runs an action on the records that this machine can read, and closes them. */
export async function withRecords<T>(
  options: Parameters<typeof openRecords>[0],
  action: (records: RecordSource) => Promise<T>,
): Promise<T> {
  const source = await openRecords(options);
  try {
    return await action(source);
  } finally {
    await source.close();
  }
}
