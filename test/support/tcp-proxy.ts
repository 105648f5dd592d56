import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on a free port of loopback, whose connections a test can cut: a network that fails on demand. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #isOpen = true;
  #onAccept: (() => void)[] = [];
  #onTurn: { readonly answers: number; readonly wake: () => void }[] = [];
  port = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  async start(): Promise<void> {
    const server = createServer((client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
    this.port = address.port;
  }

  /** Resets every connection; new ones are let through. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    this.#pairs.clear();
  }

  /** Resets every connection, and refuses new ones until {@link open}. */
  close(): void {
    this.#isOpen = false;
    this.cut();
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Resolves when the next connection has come. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#onAccept.push(resolve));
  }

  /** Resolves when a client speaks again after its server has answered so often. */
  turn(answers: number): Promise<void> {
    return new Promise((wake) => this.#onTurn.push({ answers, wake }));
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #accept(client: Socket): void {
    for (const wake of this.#onAccept.splice(0)) wake();
    if (!this.#isOpen) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#target);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let answered = 0;
    server.on('data', () => answered++);
    client.on('data', () => {
      for (const { answers, wake } of this.#onTurn) if (answered >= answers) wake();
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
