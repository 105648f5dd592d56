import type { Ledger, ReleaseName } from '../../shared/ports/frontier.ts';
import type { Delivery } from '../../shared/ports/transport.ts';
import { type ReadMessage, readMessage } from '../../shared/task/task/message.ts';
import { idOf, runNamedBy } from '../../shared/task/task/task.ts';

/** Where the frontier has what a delivery is of. */
export interface Place {
  readonly run: string;
  readonly release: ReleaseName;
}

/** Of those that wait in a worker. */
const read = new WeakMap<Delivery, ReadMessage>();

/** What a delivery says. It is read once, however often it is asked for. */
export function readDelivery(delivery: Delivery): ReadMessage {
  let message = read.get(delivery);
  if (message === undefined) {
    message = readMessage(delivery.body);
    read.set(delivery, message);
  }
  return message;
}

/** Nothing for a seed, and for what this program can't read. */
export function placeOf(delivery: Delivery): Place | undefined {
  const message = readDelivery(delivery);
  const release = delivery.headers['x-release'];
  if (message.kind !== 'task' || message.task.run === undefined || release === undefined) return undefined;
  const { run, mark } = message.task;
  return { run, release: { release, mark } };
}

/**
 * The same for what this program can't read, by its id, which is made of the mark. Where the ledger has another task under
 * the number, or none, the release is one that nothing is in flight under. Nothing for what names no release.
 */
export async function placeById({ id, headers }: Delivery, ledger: Ledger): Promise<Place | undefined> {
  const run = runNamedBy(id);
  const release = headers['x-release'];
  if (run === undefined || release === undefined) return undefined;
  const mark = await ledger.markOf(run, release);
  const isOwn = mark !== undefined && idOf({ run, mark }) === id;
  return { run, release: { release, mark: isOwn ? mark : NO_MARK } };
}

/** No task has it: marks are on one line. */
const NO_MARK = '\n';
