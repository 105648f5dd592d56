import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { TcpProxy } from '../proxies/tcp-proxy.ts';

/** A schema in the suites' Postgres that is dropped at the end of the test. */
export interface TestDatabase {
  /** Connections by this URL use the schema alone. */
  readonly url: string;
  /** A pool for a test's own queries. */
  readonly pool: pg.Pool;
}

/** Opens a database behind a network that can be cut; the URL `proxied` leads through it. */
export async function openProxiedDatabase(): Promise<
  TestDatabase & { readonly proxy: TcpProxy; readonly proxied: string }
> {
  const database = await openTestDatabase();
  const url = new URL(database.url);
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { ...database, proxy, proxied: url.href };
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const schema = `t${randomBytes(6).toString('hex')}`;
  const url = new URL(inject('postgresUrl'));
  const admin = new pg.Pool({ connectionString: url.href, max: 1 });
  admin.on('error', () => {});
  await admin.query(`CREATE SCHEMA ${schema}`);
  url.searchParams.set('options', `-csearch_path=${schema}`);
  const pool = new pg.Pool({ connectionString: url.href, max: 2 });
  pool.on('error', () => {});
  onTestFinished(async () => {
    await pool.end();
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end();
  });
  return { url: url.href, pool };
}
