/** Longest wait for a server that stores our data to accept a connection. The attempt then counts as failed and is repeated. */
export const CONNECT_TIMEOUT_MS = 10_000;
