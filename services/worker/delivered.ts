import type { Ledger, ReleaseName } from '../../shared/ports/frontier/frontier.ts';
import type { Delivery } from '../../shared/ports/transport.ts';
import { type ReadMessage, readMessage } from '../../shared/task/task/message.ts';
import { idOf, runNamedBy } from '../../shared/task/task/task.ts';

/** The run and release that a delivery belongs to. */
export interface Place {
  readonly run: string;
  readonly release: ReleaseName;
}

/** Parsed messages of the deliveries that this worker still has. */
const read = new WeakMap<Delivery, ReadMessage>();

/** Parses a delivery's body; repeated calls return the first result. */
export function readDelivery(delivery: Delivery): ReadMessage {
  let message = read.get(delivery);
  if (message === undefined) {
    message = readMessage(delivery.body);
    read.set(delivery, message);
  }
  return message;
}

/** Returns a delivery's place, read from its body; nothing for a seed or a message that this program can't read. */
export function placeOf(delivery: Delivery): Place | undefined {
  const message = readDelivery(delivery);
  const release = delivery.headers['x-release'];
  if (message.kind !== 'task' || message.task.run === undefined || release === undefined) return undefined;
  const { run, mark } = message.task;
  return { run, release: { release, mark } };
}

/**
 * Returns the place of a message that this program can't read, found by its id, which is derived from the mark. If the ledger has another
 * task under that release number, or none, the result is a release that matches nothing in flight. Returns nothing if the message names no
 * release.
 */
export async function placeById({ id, headers }: Delivery, ledger: Ledger): Promise<Place | undefined> {
  const run = runNamedBy(id);
  const release = headers['x-release'];
  if (run === undefined || release === undefined) return undefined;
  const mark = await ledger.markOf(run, release);
  const isOwn = mark !== undefined && idOf({ run, mark }) === id;
  return { run, release: { release, mark: isOwn ? mark : NO_MARK } };
}

/** No task has this mark: marks have no line breaks. */
const NO_MARK = '\n';
