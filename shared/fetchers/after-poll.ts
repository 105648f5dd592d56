/**
 * Calls back once the event loop has looked at all connections again. What had arrived on an idle one by now has then been read: the end of
 * the connection, or bytes that nobody asked for, either of which closes it. Without this look, such bytes would be taken for the answer to
 * the next request (RFC 9112 section 9.2), because Node.js can't peek at a connection.
 *
 * The first turn may end a look that began before; the second is a whole one. It doesn't wait for anything to arrive.
 */
export function afterPoll(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
