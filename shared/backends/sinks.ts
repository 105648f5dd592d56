import { join } from 'node:path';
import type { FileStore } from '../ports/file-store.ts';
import type { RecordSource, Sink } from '../ports/sink.ts';
import { InterruptedError } from '../runtime/errors.ts';
import type { Settings } from '../settings/table.ts';
import { COMMAND_ATTEMPTS, connectWithAttempts } from './attempts.ts';
import type { ConnectOptions } from './backends.ts';
import { placeOf } from './place.ts';
import { postgresRefusals } from './refusals.ts';
import { postgresTlsWords } from './tls-words.ts';

/** Opens the sink for this process' records, chosen by `SINK`. Connects to a Postgres with numbered attempts, and prepares it. */
export async function openSink(options: ConnectOptions, worker: string): Promise<Sink> {
  const { sink: url, outputDir } = options.settings;
  if (url === undefined) {
    const { JsonlSink } = await import('../sinks/jsonl/sink.ts');
    return new JsonlSink({ folder: outputDir, worker });
  }
  const { PostgresSink } = await import('../sinks/postgres/sink.ts');
  const sink = new PostgresSink({ pool: await openPool(url, options.name) });
  try {
    await connectToPostgres(() => sink.start(), url, options);
  } catch (error: unknown) {
    await letGo(sink.stop(), error);
    throw error;
  }
  return sink;
}

/** Opens the store of downloaded files: the output folder, wherever the records go. */
export async function openFiles({ outputDir, fetchTimeout }: Settings): Promise<FileStore> {
  const { FolderFiles } = await import('../sinks/files/store.ts');
  return new FolderFiles({ folder: outputDir, downloadMs: fetchTimeout });
}

/** Opens the records stored by all processes, in the place named by `SINK`. The caller closes it. */
export async function openRecords(options: ConnectOptions): Promise<RecordSource> {
  const { sink: url, outputDir } = options.settings;
  if (url === undefined) {
    const { JsonlSource } = await import('../sinks/jsonl/source.ts');
    return new JsonlSource(outputDir);
  }
  const { PostgresSource } = await import('../sinks/postgres/source.ts');
  const source = new PostgresSource({ pool: await openPool(url, options.name) });
  try {
    await connectToPostgres(() => source.connect(), url, options);
  } catch (error: unknown) {
    await letGo(source.close(), error);
    throw error;
  }
  return source;
}

/** Returns where records are, for people: a folder (that of the run, if one is given) or a Postgres. */
export function recordsPlaceOf({ sink: url, outputDir }: Settings, run?: string): string {
  if (url !== undefined) return `Postgres at ${postgresPlaceOf(url)}`;
  return run === undefined ? outputDir : join(outputDir, run);
}

/** Returns the sink's name in metrics. */
export function sinkNameOf({ sink: url }: Settings): string {
  return url === undefined ? 'jsonl' : 'postgres';
}

/** Returns the target of `SINK`, for people, without credentials. Equal for all processes that store in the same place. */
export function sinkPlaceOf({ sink: url }: Settings): string {
  if (url === undefined) return 'files (jsonl)';
  const { host, pathname, searchParams } = new URL(url);
  const server = host || (searchParams.get('host') ?? 'a local socket');
  return [`Postgres at ${server}${pathname}`, ...searchParams.getAll('options')].join(' ');
}

async function openPool(url: string, name: string): Promise<import('pg').Pool> {
  const { openPostgresPool } = await import('../sinks/postgres/connection.ts');
  return openPostgresPool(url, name);
}

async function connectToPostgres(connect: () => Promise<void>, url: string, options: ConnectOptions): Promise<void> {
  const { attempts = COMMAND_ATTEMPTS, log, signal } = options;
  const tls = url.includes('sslmode=') ? ', its sslmode and sslrootcert' : '';
  const advice = `Check SINK${tls}, and that it runs: docker compose --profile postgres up -d postgres`;
  const where = postgresPlaceOf(url);
  const words = postgresTlsWords(url);
  const refusals = postgresRefusals(words);
  await connectWithAttempts(connect, { name: 'Postgres', where, advice, attempts, refusals, words, log, signal });
}

/** Waits for the closing of a failed connection, unless the caller was interrupted. */
async function letGo(closing: Promise<void>, error: unknown): Promise<void> {
  if (error instanceof InterruptedError) closing.catch(() => {});
  else await closing;
}

function postgresPlaceOf(url: string): string {
  return placeOf(url) || 'a local socket';
}
