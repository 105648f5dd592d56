import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonlSink } from '../../shared/sinks/jsonl/sink.ts';
import { JsonlSource } from '../../shared/sinks/jsonl/source.ts';
import { openPostgresPool } from '../../shared/sinks/postgres/connection.ts';
import { PostgresSink } from '../../shared/sinks/postgres/sink.ts';
import { PostgresSource } from '../../shared/sinks/postgres/source.ts';
import { openTestDatabase } from '../support/stores/postgres.ts';
import { describeSink } from './suites/sink.contract.ts';

describeSink(
  'JSONL',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trawl-sink-'));
    const [sink, other] = ['w-1', 'w-2'].map((worker) => new JsonlSink({ folder, worker })) as [JsonlSink, JsonlSink];
    const close = async (): Promise<void> => {
      await Promise.all([sink.stop(), other.stop()]);
      await rm(folder, { recursive: true });
    };
    return { sink, other, source: new JsonlSource(folder), close };
  },
  { oddCharacters: 'kept' },
);

describeSink(
  'Postgres',
  async () => {
    const { url } = await openTestDatabase();
    const pool = () => openPostgresPool(url, 'trawl test');
    const [sink, other] = [new PostgresSink({ pool: pool() }), new PostgresSink({ pool: pool() })];
    const source = new PostgresSource({ pool: pool() });
    const close = async () => void (await Promise.all([sink.stop(), other.stop(), source.close()]));
    return { sink, other, source, close };
  },
  { oddCharacters: 'replaced' },
);
