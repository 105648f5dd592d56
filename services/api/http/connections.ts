import type { Socket } from 'node:net';
import type { Api } from '../parts.ts';
import { answersUnderWay } from './answers-under-way.ts';

/** Connections open at once. An idle one takes about 10 kB. Far more than dashboards, programs and proxies keep. */
export const MOST_CONNECTIONS = 2_000;

/**
 * Bounds the connections of an API. One more than `most` takes the place of another: of the address with the most connections, the one that
 * has been without an answer under way for longest. So whoever opens many and leaves them idle loses their own. If all connections of that
 * address have answers under way, the new one is cut off.
 */
export function boundConnections(app: Api, most = MOST_CONNECTIONS): void {
  /** The connections of each address, the one used least recently first. */
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  app.server.on('connection', (socket) => {
    // A client that has hung up already has no address.
    const { remoteAddress: address = '' } = socket;
    const own = open.get(address) ?? new Set();
    open.set(address, own.add(socket));
    count++;
    socket.once('close', () => {
      count--;
      own.delete(socket);
      if (own.size === 0 && open.get(address) === own) open.delete(address);
    });
    if (count > most) (idleOf(largest(open), socket) ?? socket).destroy();
  });
  app.server.on('request', ({ socket }) => {
    const own = open.get(socket.remoteAddress ?? '');
    if (own?.delete(socket)) own.add(socket);
  });
}

/** Returns the connections of the address that has the most. */
function largest(open: ReadonlyMap<string, ReadonlySet<Socket>>): ReadonlySet<Socket> {
  let found: ReadonlySet<Socket> = new Set();
  for (const each of open.values()) if (each.size > found.size) found = each;
  return found;
}

/** Returns the connection without answers under way that was used least recently; undefined if there is none but the newest. */
function idleOf(connections: ReadonlySet<Socket>, newest: Socket): Socket | undefined {
  for (const each of connections)
    if (each !== newest && !each.destroyed && answersUnderWay(each).length === 0) return each;
  return undefined;
}
