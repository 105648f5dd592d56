import { count, counted, momentText } from '../../../../shared/control/format.ts';
import { isMeant, type LetterFilter, readLetter } from '../../../../shared/control/letters/letter-filter.ts';
import { letterJson, rawText } from '../../../../shared/control/letters/letter-json.ts';
import { listLetters as list } from '../../../../shared/control/letters/letter-list.ts';
import type { DeadLetters } from '../../../../shared/ports/transport.ts';
import { TRAWL } from '../../../../shared/runtime/started-as.ts';
import { runNamedBy } from '../../../../shared/task/task/task.ts';
import { withoutCredentials } from '../../../../shared/task/url/url.ts';
import type { Context } from '../../command.ts';
import { withLetters } from '../../process/with-archives.ts';
import { lettersGone } from '../../text/letters-gone.ts';
import { openLineOutput } from '../../text/line-output.ts';
import { jsonLine, print, printJson, say, sayFailure } from '../../text/output.ts';
import { table } from '../../text/table.ts';
import { type FilterOptions, type LocalChoice, readFilter, readLimit, whoseLetters } from './filter.ts';

/** Maximum number of letters shown for one URL, each from a different run. */
const MOST_SHOWN = 1_000;
const TASK_ID = /^[a-z0-9-]+:[0-9a-f]{32}$/;

/** `trawl dlq list`: lists dead letters, one line each, oldest first. */
export async function listLetters(options: FilterOptions, context: Context): Promise<number> {
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const { found, meant, all, isLocal } = await withLetters(
    context,
    whoseLetters(options),
    async (letters, isLocal) => ({
      ...(await list(letters, { isMeant: (each) => isMeant(each, filter), limit })),
      isLocal,
    }),
  );
  if (context.json) {
    printJson(found.map(letterJson));
    return 0;
  }
  const rows = found.map(({ message, letter, reason }) => [
    letter === undefined ? '' : momentText(letter.failedAt),
    reason,
    letter?.status === undefined ? '' : String(letter.status),
    letter === undefined ? (rawText(message) ?? `${message.body.byteLength} bytes`) : letter.url,
    message.id ?? '',
  ]);
  print(table(rows));
  const shown = found.length === meant ? '' : `${count(found.length)} of `;
  const others = meant === all ? '' : `; ${count(all)} in all`;
  say(`${shown}${counted(meant, 'dead letter')}${others}`);
  if (meant === 0 && !isLocal) say(lettersGone(options.run));
  return 0;
}

/** `trawl dlq show`: prints one dead letter in full. */
export async function showLetter(wanted: string, { local }: LocalChoice, context: Context): Promise<number> {
  const url = withoutCredentials(wanted);
  // A task id contains its run id.
  const run = TASK_ID.test(wanted) ? runNamedBy(wanted) : undefined;
  const { found, isLocal } = await withLetters(context, { local, run }, async (letters, isLocal) => ({
    ...(await list(letters, {
      isMeant: ({ message, letter }) => message.id === wanted || (letter !== undefined && letter.url === url),
      limit: MOST_SHOWN,
    })),
    isLocal,
  }));
  if (found.length === 0) {
    sayFailure(noLetter(url, isLocal, local));
    return 1;
  }
  for (const each of found) printJson(letterJson(each), context.json ? 0 : 2);
  return 0;
}

/** Says that no letter was found and where others may be: a URL doesn't say whether it failed in the fleet or in a crawl on this machine. */
export function noLetter(url: string, isLocal: boolean, local: boolean | undefined): string {
  const list = `${TRAWL} dlq list${isLocal ? ' --local' : ''} lists the existing ones`;
  const others =
    local === undefined && !isLocal ? ' of the fleet, and --local looks at the crawls on this machine' : '';
  return `no dead letter has the id or the URL ${url}; ${list}${others}`;
}

/** `trawl dlq export`: prints each letter in full, headers included, one per line. */
export async function exportLetters(options: FilterOptions, context: Context): Promise<number> {
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const written = await withLetters(context, { ...whoseLetters(options), isPrinting: true }, (letters) =>
    writeLetters(letters, filter, limit, context.signal),
  );
  say(`${counted(written, 'dead letter')} written; they stay in the queue`);
  return 0;
}

async function writeLetters(
  letters: Pick<DeadLetters, 'sift'>,
  filter: LetterFilter,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const enough = new AbortController();
  const output = await openLineOutput();
  let written = 0;
  await letters.sift(async (messages) => {
    for (const each of messages.map(readLetter)) {
      signal?.throwIfAborted();
      if (written >= limit || !isMeant(each, filter)) continue;
      await output.write(jsonLine({ ...letterJson(each), headers: each.message.headers }));
      written++;
    }
    if (written >= limit || output.isOver) enough.abort();
    return [];
  }, enough.signal);
  return written;
}
