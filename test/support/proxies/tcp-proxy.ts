import { connect, createServer, type Server, type Socket } from 'node:net';
import { Flow, type Weather } from './tcp-flow.ts';

/** A TCP proxy on a free port of loopback: a network that fails on demand. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #isOpen = true;
  #weather: Weather = {};
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

  /** Returns the URL with this proxy in place of its server. */
  inFrontOf(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  /** Changes the weather for present and future connections. */
  set weather(weather: Weather) {
    this.#weather = weather;
    for (const { flows } of this.#pairs) for (const flow of flows) flow.weather = weather;
  }

  /** Resets every connection; new ones are let through. */
  cut(): void {
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.resetAndDestroy();
    this.#pairs.clear();
  }

  /** Leaves every connection half open: the server's end is gone, and the client doesn't learn of it. */
  halve(): void {
    for (const pair of this.#pairs) {
      pair.isHalf = true;
      pair.server.destroy();
      pair.client.resume();
    }
  }

  /** Resets every connection, and refuses new ones until {@link open}. */
  close(): void {
    this.#isOpen = false;
    this.cut();
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Resolves at the next connection. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#onAccept.push(resolve));
  }

  /** Resolves when a client sends data after its server has sent data at least `answers` times. */
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
    const reset = (): void => {
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    const pair: Pair = {
      client,
      server,
      flows: [new Flow(client, server, reset), new Flow(server, client, reset)],
      isHalf: false,
    };
    this.#pairs.add(pair);
    let answered = 0;
    server.on('data', () => answered++);
    client.on('data', () => {
      for (const { answers, wake } of this.#onTurn) if (answered >= answers) wake();
    });
    for (const flow of pair.flows) flow.weather = this.#weather;
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (pair.isHalf && socket === server) return;
        // In a black hole the other end stays open until the weather is better.
        for (const flow of pair.flows) flow.end();
        if (client.destroyed && server.destroyed) this.#pairs.delete(pair);
      });
    }
  }
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly flows: readonly Flow[];
  isHalf: boolean;
}
