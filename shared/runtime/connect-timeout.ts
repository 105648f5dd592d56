/** How long a server that keeps our data may take to accept a connection. The attempt then counts as failed, and is repeated. */
export const CONNECT_TIMEOUT_MS = 10_000;
