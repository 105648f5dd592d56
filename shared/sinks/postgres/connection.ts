import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';

/** Time without an answer after which a statement has failed: the network may have died silently. */
const ANSWER_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 60_000;
/** In libpq, this means the issuers trusted by the system, with `verify-full`. The client would look for a file of that name. */
const SYSTEM_ISSUERS = /([?&])sslrootcert=system(?=&|#|$)/;
/** The client treats all of these as `verify-full`, and prints a five-line warning that a later version won't. */
const STRICT_MODE = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/;

/** Creates a pool for connections to a Postgres, without opening any. A dead connection is replaced when one is next needed. */
export function openPostgresPool(url: string, name: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: connectionStringOf(url),
    application_name: name.slice(0, 63),
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
  });
  // It doesn't matter if an idle connection ends: the next caller gets another one, or its own error.
  pool.on('error', () => {});
  // A connection in use rejects its query, and also emits an error, which would end the process if there were no listener.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Rewrites a URL so that the client understands it. */
function connectionStringOf(url: string): string {
  const known = url.replace(SYSTEM_ISSUERS, '$1sslmode=verify-full');
  return known.includes('uselibpqcompat=true') ? known : known.replace(STRICT_MODE, '$1verify-full');
}
