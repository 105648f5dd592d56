import { type ConnectOptions, connectInspector } from '../../../shared/backends/backends.ts';
import { openRecords } from '../../../shared/backends/sinks.ts';
import type { RecordSource } from '../../../shared/ports/sink.ts';
import type { DeadLetters, LetterJudge } from '../../../shared/ports/transport.ts';
import type { Context } from '../command.ts';
import { type TallyLine, withTally } from '../text/tally-line.ts';
import { findLocal, namingLocal, type Whose } from './with-stores.ts';

/** Name of the connections of `trawl dlq` in the broker's list. */
const DLQ = 'trawl dlq';

/** Dead letters, as commands read them. */
type ReadLetters = Pick<DeadLetters, 'sift'>;

/**
 * Runs an action on the dead letters of the fleet, or on those of this machine, and disconnects. A terminal shows how many have been
 * read so far.
 */
export async function withLetters<T>(
  context: Context,
  whose: Whose & { readonly isPrinting?: boolean },
  action: (letters: ReadLetters, isLocal: boolean) => Promise<T>,
): Promise<T> {
  const { isPrinting = false } = whose;
  return await withTally(context, { what: LETTERS_READ, isPrinting }, (tally) =>
    withUntoldLetters(context, whose, (letters, isLocal) => action(talliedLetters(letters, tally), isLocal)),
  );
}

/** The label of a tally of {@link talliedLetters}. */
export const LETTERS_READ = 'dead letters read';

/** Wraps letters so that a tally counts those that a command has read. */
export function talliedLetters(letters: ReadLetters, tally: TallyLine): ReadLetters {
  return {
    async sift(judge, signal) {
      const judgeAndTally: LetterJudge = async (some) => {
        const fates = await judge(some);
        tally.add(some.length);
        return fates;
      };
      await letters.sift(judgeAndTally, signal);
    },
  };
}

async function withUntoldLetters<T>(
  context: Context,
  whose: Whose,
  action: (letters: DeadLetters, isLocal: boolean) => Promise<T>,
): Promise<T> {
  const local = await findLocal(context, whose);
  if (local !== undefined) {
    try {
      return await action(local.letters, true);
    } finally {
      local.close();
    }
  }
  const ofFleet = (letters: DeadLetters): Promise<T> => action(letters, false);
  return await namingLocal(context, whose, () => withFleetLetters({ ...context, name: DLQ }, ofFleet));
}

/** Runs an action on the dead letters of the fleet, and disconnects. */
export async function withFleetLetters<T>(
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

/** Runs an action on the records that this machine can read, and closes their source. */
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
