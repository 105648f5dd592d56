import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';

/** A test's server on a free port of loopback. It knows its connections: so it can cut them all, and a test can wait for their end. */
export class LoopbackServer {
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Knows of a connection from now on: one that was made to it, or that it has made. */
  keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends the server, and cuts all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Resolves once no connection is open: what a client leaks, a test waits for in vain. */
  async allClosed(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }
}
