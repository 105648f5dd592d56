import type { Command } from 'commander';
import { connectTransport } from '../../shared/backends.ts';
import { type DeadLetter, readDeadLetter } from '../../shared/dead-letter.ts';
import { UsageError } from '../../shared/errors.ts';
import type { DeadLetterMessage, DeadLetters } from '../../shared/transport.ts';
import { addCommonOptions, type CommandModule, type Context, withContext } from './command.ts';
import { count } from './format.ts';
import { table } from './table.ts';

interface Filter {
  readonly reason?: string;
  readonly host?: string;
  readonly run?: string;
  readonly limit: string;
}

/** Letters that are looked through: the broker hands them out one by one. */
const MOST_LOOKED_AT = 100_000;

/** `trawl dlq list|show`: dead letters, which stay where they are. */
export const command: CommandModule = {
  define(command: Command, exit) {
    const list = command.command('list').description('list dead letters, oldest first; they stay in the queue');
    addCommonOptions(list, ['fleet'])
      .option('--reason <reason>', 'only those that failed for this reason: timeout, http_4xx, malformed …')
      .option('--host <host>', 'only those of this host')
      .option('--run <id>', 'only those of this run')
      .option('--limit <n>', 'at most so many', '100')
      .action(async (filter: Filter) => {
        exit(await withContext({ ...filter }, { logLevel: 'warn' }, (context) => listLetters(filter, context)));
      });
    const show = command.command('show').description('show one dead letter in full');
    addCommonOptions(show, ['fleet'])
      .argument('<letter>', 'its task id, as dlq list shows it, or its URL')
      .action(async (wanted: string, options: object) => {
        exit(await withContext({ ...options }, { logLevel: 'warn' }, (context) => showLetter(wanted, context)));
      });
  },
};

/** A message of `failed_urls`: a dead letter, or the raw body of what was no task. */
interface Found {
  readonly message: DeadLetterMessage;
  readonly letter: DeadLetter | undefined;
}

async function listLetters(filter: Filter, context: Context): Promise<number> {
  const limit = Number(filter.limit);
  if (!Number.isInteger(limit) || limit < 1)
    throw new UsageError(`expected --limit to be a whole number, got "${filter.limit}"`);
  const all = await browse(context);
  const found = all.filter((each) => matches(each, filter)).slice(0, limit);
  if (context.json) {
    process.stdout.write(`${JSON.stringify(found.map(jsonOf))}\n`);
    return 0;
  }
  const rows = found.map(({ message, letter }) => [
    letter?.failedAt.slice(0, 19).replace('T', ' ') ?? '',
    letter?.reason ?? 'malformed',
    letter?.status === undefined ? '' : String(letter.status),
    letter === undefined ? rawText(message) : letter.url,
    message.id ?? '',
  ]);
  process.stdout.write(table(rows));
  const shown = found.length === all.length ? '' : ` of ${count(all.length)}`;
  process.stderr.write(`${count(found.length)}${shown} dead letters\n`);
  return 0;
}

async function showLetter(wanted: string, context: Context): Promise<number> {
  const found = (await browse(context)).filter(
    ({ message, letter }) => message.id === wanted || letter?.url === wanted,
  );
  if (found.length === 0) {
    process.stderr.write(
      `trawl: no dead letter has the id or the URL ${wanted}; trawl dlq list shows those there are\n`,
    );
    return 1;
  }
  for (const each of found) process.stdout.write(`${JSON.stringify(jsonOf(each), undefined, context.json ? 0 : 2)}\n`);
  return 0;
}

async function browse(context: Context): Promise<Found[]> {
  const transport: DeadLetters & { stop(): Promise<void> } = await connectTransport({ ...context, name: 'trawl dlq' });
  try {
    const messages = await transport.browse(MOST_LOOKED_AT);
    return messages.map((message) => ({ message, letter: readDeadLetter(message.body) }));
  } finally {
    await transport.stop();
  }
}

function matches({ letter }: Found, { reason, host, run }: Filter): boolean {
  if (reason !== undefined && (letter?.reason ?? 'malformed') !== reason) return false;
  if (host !== undefined && URL.parse(letter?.url ?? '')?.host !== host) return false;
  return run === undefined || letter?.run === run;
}

function jsonOf({ message, letter }: Found): object {
  const { id = null, headers } = message;
  return letter === undefined
    ? { id, reason: 'malformed', error: headers['x-last-error'], raw: rawText(message) }
    : { id, ...letter };
}

function rawText({ body }: DeadLetterMessage): string {
  return new TextDecoder().decode(body);
}
