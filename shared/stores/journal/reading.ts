import { closeSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import type { Beginning } from '../../ports/journal.ts';
import type { RunOptions } from '../../ports/runs.ts';
import { messageOf, StorageError } from '../../runtime/errors.ts';
import { SCOPES } from '../../task/url/scope.ts';
import { URL_KEY_RULES } from '../../task/url/url-key.ts';
import { JOURNAL_VERSION } from './lines.ts';

const BLOCK_BYTES = 1 << 20;
const INTEGER = /^-?\d{1,15}$/;

/** A whole line of a journal. */
export interface JournalLine {
  readonly fields: readonly string[];
  /** From 1. */
  readonly number: number;
}

/** What can't be read of a journal, to be completed with the place. */
export class LineProblem extends Error {}

const optionsSchema: z.ZodType<RunOptions> = z.object({
  crawler: z.string(),
  dedup: z.enum(['ever', 'run']),
  intervalMs: z.number(),
  maxAttempts: z.int(),
  follow: z.boolean(),
  maxDepth: z.int(),
  content: z.enum(['none', 'text', 'html']),
  scope: z.enum(SCOPES).exactOptional(),
  include: z.array(z.string()).exactOptional(),
  exclude: z.array(z.string()).exactOptional(),
  maxPages: z.int().exactOptional(),
  maxHostsPerDomain: z.int().exactOptional(),
  urlKey: z.array(z.enum(URL_KEY_RULES)).exactOptional(),
  // Journals of older programs say nothing of these.
  incremental: z.boolean().default(false),
  recrawlAfterMs: z.number().default(0),
});

const beginningSchema = z.object({
  options: optionsSchema,
  seeds: z.array(z.unknown()),
  flags: z.record(z.string(), z.string()),
});

/** The whole lines of a journal, in order. What comes after the last end of a line was torn by a crash, and is left out. */
export function* linesOf(path: string): Generator<JournalLine, void, void> {
  const descriptor = openSync(path, 'r');
  try {
    let block = Buffer.alloc(BLOCK_BYTES);
    let [kept, start, number] = [0, 0, 0];
    for (;;) {
      const read = readSync(descriptor, block, kept, block.length - kept, start + kept);
      if (read === 0) return;
      const filled = kept + read;
      const end = block.subarray(0, filled).lastIndexOf(10) + 1;
      for (const text of block.toString('utf8', 0, Math.max(0, end - 1)).split('\n')) {
        if (end === 0) break;
        yield { fields: text.split('\t'), number: ++number };
      }
      start += end;
      kept = filled - end;
      if (kept === block.length) block = Buffer.concat([block, Buffer.alloc(block.length)]);
      else block.copyWithin(0, end, filled);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Calls `read` with every line of a file; what it can't read is refused by file and line. */
export function readLines(lines: Iterable<JournalLine>, path: string, read: (line: JournalLine) => void): void {
  for (const line of lines) {
    try {
      read(line);
    } catch (error: unknown) {
      if (!(error instanceof LineProblem)) throw error;
      throw new StorageError(
        `${path} can't be read at line ${line.number}: ${error.message}. Nothing was changed; what is stored can be read with: trawl records`,
      );
    }
  }
}

/** The run that a journal is of, when it was begun, and with what. */
export function readBeginning({ fields }: JournalLine): { readonly beginning: Beginning; readonly begunAt: number } {
  const [kind, version, run = '', begunAt, json] = fields;
  if (kind !== 'journal') throw new LineProblem('it should begin with the word "journal"');
  if (Number(version) !== JOURNAL_VERSION) throw new LineProblem(`it is of version ${version}, which I don't know`);
  const { options, seeds, flags } = readJson(json, beginningSchema);
  return { beginning: { run, options, seeds, flags }, begunAt: readInteger(begunAt) };
}

export function readInteger(text: string | undefined): number {
  if (text === undefined || !INTEGER.test(text)) throw new LineProblem(`expected a whole number, got ${quoted(text)}`);
  return Number(text);
}

export function readText(text: string | undefined): string {
  if (text === undefined || text === '') throw new LineProblem('a field is missing');
  return text;
}

/** Reads one of some words. */
export function readWord<T extends string>(text: string | undefined, words: readonly T[]): T {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new LineProblem(`expected one of ${words.join(', ')}, got ${quoted(text)}`);
  return word;
}

export function readJson<T>(text: string | undefined, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = JSON.parse(readText(text));
  } catch (error: unknown) {
    throw error instanceof LineProblem ? error : new LineProblem(messageOf(error));
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new LineProblem(z.prettifyError(parsed.error).replaceAll('\n', ' '));
}

export function quoted(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 80));
}
