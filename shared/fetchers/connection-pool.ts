import type http from 'node:http';

/** Servers close idle connections after anything from 5 s up; a slow crawl asks a host every second. */
const IDLE_MS = 10_000;

/** How connections are kept alive. */
export const POOL: http.AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS };

/** @returns what closes idle connections of these pools at once, and each one in use when its request ends */
export function closerOf(pools: readonly http.Agent[]): () => void {
  let closed = false;
  for (const pool of pools) {
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    // Typed `void`, yet Node reads the answer: `false` closes the socket.
    pool.keepSocketAlive = (socket) => !closed && keepSocketAlive(socket);
  }
  return () => {
    closed = true;
    for (const { freeSockets } of pools) {
      for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
  };
}
