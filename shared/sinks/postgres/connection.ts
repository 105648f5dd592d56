import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from '../../runtime/connect-timeout.ts';

/** A statement without an answer for this long has failed: the network may have gone silently. */
const ANSWER_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 60_000;
/** For libpq, the issuers that the system trusts, with `verify-full`; the client would look for a file of that name. */
const SYSTEM_ISSUERS = /([?&])sslrootcert=system(?=&|#|$)/;
/** The client takes all of these for `verify-full`, and warns in five lines that a later version won't. */
const STRICT_MODE = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/;

/** A pool of connections to a Postgres, none of them open yet. A connection that dies is replaced when one is next needed. */
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
  // An idle connection that ends doesn't matter: the next caller gets another, or an error of its own.
  pool.on('error', () => {});
  // A connection in use rejects its query, and emits an error here as well, which would end the process without a listener.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A URL as the client understands it. */
function connectionStringOf(url: string): string {
  const known = url.replace(SYSTEM_ISSUERS, '$1sslmode=verify-full');
  return known.includes('uselibpqcompat=true') ? known : known.replace(STRICT_MODE, '$1verify-full');
}
