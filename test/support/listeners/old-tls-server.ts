import { createServer, type Socket } from 'node:net';
import { LoopbackServer } from './loopback-server.ts';

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. */
const CIPHER = 'c02f';
/** Version 1.2, a random number, no session, the cipher, no compression, and no extension, not even that of RFC 5746. */
const SERVER_HELLO = `0303${'ab'.repeat(32)}00${CIPHER}00`;
/** A fatal alert: internal_error. */
const ALERT = '15030300020250';

/** A TLS 1.2 server without secure renegotiation. It answers each ClientHello, and then ends the handshake with an alert. */
export class OldTlsServer {
  readonly #server = createServer((socket) => this.#greet(socket));
  readonly #loopback = new LoopbackServer(this.#server);
  /** The cipher suites that each client offered. */
  readonly offers: (readonly number[])[] = [];

  async start(): Promise<void> {
    await this.#loopback.listen();
  }

  async stop(): Promise<void> {
    await this.#loopback.stop();
  }

  get url(): string {
    return `https://127.0.0.1:${this.#loopback.port}/`;
  }

  #greet(socket: Socket): void {
    this.#loopback.keep(socket);
    socket.on('error', () => {});
    socket.once('data', (hello) => {
      this.offers.push(suitesIn(hello));
      const message = `02${lengthOf(SERVER_HELLO, 3)}${SERVER_HELLO}`;
      socket.write(Buffer.from(`160303${lengthOf(message, 2)}${message}`, 'hex'));
      socket.end(Buffer.from(ALERT, 'hex'));
    });
  }
}

/** The cipher suites of a ClientHello (RFC 5246 section 7.4.1.2) that follows the headers of record and message. */
function suitesIn(hello: Buffer): number[] {
  const session = 5 + 4 + 2 + 32;
  const start = session + 1 + hello.readUInt8(session);
  const bytes = hello.readUInt16BE(start);
  return Array.from({ length: bytes / 2 }, (_, index) => hello.readUInt16BE(start + 2 + 2 * index));
}

/** The length of these hex digits in bytes, as a hex number of `bytes` bytes. */
function lengthOf(hex: string, bytes: number): string {
  return (hex.length / 2).toString(16).padStart(2 * bytes, '0');
}
