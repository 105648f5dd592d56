import { once } from 'node:events';
import { connectTransport } from '../../shared/backends.ts';
import { type FoundLetter, isMeant, type LetterFilter, readLetter } from '../../shared/letter-filter.ts';
import { withoutCredentials } from '../../shared/task/url.ts';
import type { DeadLetterMessage, DeadLetters } from '../../shared/transport.ts';
import type { Context } from './command.ts';
import { type FilterOptions, readFilter, readLimit } from './dlq-filter.ts';
import { count } from './format.ts';
import { table } from './table.ts';

/** Letters that `list` and `show` look through. */
const MOST_LOOKED_AT = 100_000;

/** `trawl dlq list`: a line each, oldest first. */
export async function listLetters(options: FilterOptions, context: Context): Promise<number> {
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const all = await browse(context);
  const found = all.filter((each) => isMeant(each, filter)).slice(0, limit);
  if (context.json) {
    process.stdout.write(`${JSON.stringify(found.map(letterJson))}\n`);
    return 0;
  }
  const rows = found.map(({ message, letter, reason }) => [
    letter?.failedAt.slice(0, 19).replace('T', ' ') ?? '',
    reason,
    letter?.status === undefined ? '' : String(letter.status),
    letter === undefined ? (rawText(message) ?? `${message.body.byteLength} bytes`) : withoutCredentials(letter.url),
    message.id ?? '',
  ]);
  process.stdout.write(table(rows));
  const shown = found.length === all.length ? '' : ` of ${count(all.length)}`;
  process.stderr.write(`${count(found.length)}${shown} dead letters\n`);
  return 0;
}

/** `trawl dlq show`: one in full. */
export async function showLetter(wanted: string, context: Context): Promise<number> {
  const found = (await browse(context)).filter(
    ({ message, letter }) => message.id === wanted || letter?.url === wanted,
  );
  if (found.length === 0) {
    process.stderr.write(
      `trawl: no dead letter has the id or the URL ${wanted}; trawl dlq list shows those there are\n`,
    );
    return 1;
  }
  for (const each of found)
    process.stdout.write(`${JSON.stringify(letterJson(each), undefined, context.json ? 0 : 2)}\n`);
  return 0;
}

/** `trawl dlq export`: everything of each letter, one a line. */
export async function exportLetters(options: FilterOptions, context: Context): Promise<number> {
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const written = await withLetters(context, (letters) => writeLetters(letters, filter, limit));
  process.stderr.write(`${count(written)} dead letters written; they stay where they are\n`);
  return 0;
}

async function writeLetters(letters: DeadLetters, filter: LetterFilter, limit: number): Promise<number> {
  const enough = new AbortController();
  let written = 0;
  await letters.sift(async (messages) => {
    for (const each of messages.map(readLetter)) {
      if (written >= limit || !isMeant(each, filter)) continue;
      const line = `${JSON.stringify({ ...letterJson(each), headers: each.message.headers })}\n`;
      if (!process.stdout.write(line)) await once(process.stdout, 'drain');
      written++;
    }
    if (written >= limit) enough.abort();
    return [];
  }, enough.signal);
  return written;
}

/** Runs an action on the dead letters of the fleet. */
export async function withLetters<T>(context: Context, action: (letters: DeadLetters) => Promise<T>): Promise<T> {
  const transport = await connectTransport({ ...context, name: 'trawl dlq' });
  try {
    return await action(transport);
  } finally {
    await transport.stop();
  }
}

/** The letters that are there now, those that failed first in front. Raw bodies have no time and come last. */
async function browse(context: Context): Promise<FoundLetter[]> {
  const found = (await withLetters(context, (letters) => letters.browse(MOST_LOOKED_AT))).map(readLetter);
  const time = ({ letter }: FoundLetter): string => letter?.failedAt ?? '~';
  return found.sort((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
}

/** A letter for scripts. The body of what was no task is in `raw`, or in `rawBase64` if it is no UTF-8. */
export function letterJson({ message, letter, reason }: FoundLetter): object {
  const { id = null, headers, body } = message;
  if (letter !== undefined) return { id, ...letter };
  const raw = rawText(message);
  const kept = raw === undefined ? { rawBase64: Buffer.from(body).toString('base64') } : { raw };
  return { id, reason, error: headers['x-last-error'], ...kept };
}

function rawText({ body }: DeadLetterMessage): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
