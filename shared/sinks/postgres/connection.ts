import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';

/** How long a statement may go without an answer before it has failed: the network may be gone silently. */
const ANSWER_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 60_000;

/** A pool of connections to a Postgres, none of them opened yet. One that dies is replaced by the next use. */
export function openPostgresPool(url: string, name: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name.slice(0, 63),
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
  });
  // An idle connection that ends is of no interest: whoever needs one gets another, or an error of his own.
  pool.on('error', () => {});
  // One in use rejects what it was asked, and tells the end of its socket here as well: unheard, that ends the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
