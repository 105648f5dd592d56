import { connect, createServer, type Server, type Socket } from 'node:net';
import { Flow } from './tcp-flow.ts';

/** What a network does to the bytes that pass. All is well where nothing is said. */
export interface Weather {
  /** Every byte is so much later. */
  readonly latencyMs?: number;
  /** Nothing passes, in either direction, and nobody is told; what was sent comes once the weather is better. */
  readonly blackhole?: boolean;
  /** Bytes pass in pieces of at most this size. */
  readonly sliceBytes?: number;
  /** A connection is reset after so many bytes. */
  readonly limitBytes?: number;
}

/** A TCP proxy on a free port of loopback: a network that fails on demand. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #isOpen = true;
  #weather: Weather = {};
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

  /** A URL with this proxy in the place of its server. */
  inFrontOf(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  /** Changes the weather, for the connections there are and those to come. */
  set weather(weather: Weather) {
    this.#weather = weather;
    for (const { flows } of this.#pairs) for (const flow of flows) flow.weather = weather;
  }

  /** Resets every connection; new ones are let through. */
  cut(): void {
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.resetAndDestroy();
    this.#pairs.clear();
  }

  /** Leaves every connection half open: the server's end is gone, and the client is not told. */
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

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #accept(client: Socket): void {
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
    for (const flow of pair.flows) flow.weather = this.#weather;
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (pair.isHalf && socket === server) return;
        this.#pairs.delete(pair);
        for (const flow of pair.flows) flow.end();
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
