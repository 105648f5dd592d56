import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';

/** A test's server on a free port of loopback. It tracks its connections, so it can cut them all, and a test can wait for their end. */
export class LoopbackServer {
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Tracks a connection that was made to the server or by it. */
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

  /** Stops the server and cuts all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Resolves once no connection is open. If a client leaks one, the test times out. */
  async allClosed(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }
}
