import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LoopbackServer } from '../listeners/loopback-server.ts';

/** How a SOCKS proxy behaves. A number is the reply code that it refuses with (RFC 1928 section 6). */
export type SocksMood = 'works' | 'hangs' | 'hangs up' | number;

const [GRANTED, HOST_UNREACHABLE] = [0, 4];
const [NO_LOGIN, BY_PASSWORD, NONE_ACCEPTED] = [0, 2, 255];
const [IPV4, NAME] = [1, 3];

/** A SOCKS5 proxy (RFC 1928) on a free port of loopback: CONNECT to IPv4 addresses and names, by password (RFC 1929) if it has a login. */
export class SocksProxy {
  readonly #login: string | undefined;
  readonly #server: Server;
  readonly #loopback: LoopbackServer;
  /** The targets of its requests in order: `host:port`. */
  readonly asked: string[] = [];
  mood: SocksMood = 'works';
  connections = 0;
  #onAsked: (() => void)[] = [];

  /** @param login `user:password`; without it, the proxy accepts all clients */
  constructor(login?: string) {
    this.#login = login;
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#loopback.keep(socket);
      this.#talk(socket).catch(() => socket.destroy());
    });
    this.#loopback = new LoopbackServer(this.#server);
  }

  async start(): Promise<void> {
    await this.#loopback.listen();
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    await this.#loopback.stop();
  }

  /** Its URL for `PROXY_URL`, with the login. */
  get url(): string {
    return `socks5://${this.#login === undefined ? '' : `${this.#login}@`}127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.#loopback.port;
  }

  /** Resolves at its next request. */
  question(): Promise<void> {
    return new Promise((resolve) => this.#onAsked.push(resolve));
  }

  /** Resolves once no connection is open. If a client leaks one, the test times out. */
  async disconnection(): Promise<void> {
    await this.#loopback.allClosed();
  }

  async #talk(socket: Socket): Promise<void> {
    const [, count = 0] = await bytes(socket, 2);
    const methods = [...(await bytes(socket, count))];
    const method = this.#login === undefined ? NO_LOGIN : BY_PASSWORD;
    socket.write(Buffer.from([5, methods.includes(method) ? method : NONE_ACCEPTED]));
    if (this.#login !== undefined && !(await this.#isLogin(socket))) return;
    const [, , , kind] = await bytes(socket, 4);
    const host = kind === IPV4 ? [...(await bytes(socket, 4))].join('.') : await text(socket, kind === NAME);
    const port = (await bytes(socket, 2)).readUInt16BE();
    this.asked.push(`${host}:${port}`);
    for (const wake of this.#onAsked.splice(0)) wake();
    // Without reading, the end of the client would go unnoticed.
    if (this.mood === 'hangs') socket.resume();
    else if (this.mood === 'hangs up') socket.destroy();
    else if (this.mood === 'works') await this.#connect(socket, host, port);
    else socket.end(reply(this.mood));
  }

  async #isLogin(socket: Socket): Promise<boolean> {
    await bytes(socket, 1);
    const [user, password] = [await text(socket), await text(socket)];
    const isRight = `${user}:${password}` === this.#login;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) socket.end();
    return isRight;
  }

  async #connect(client: Socket, host: string, port: number): Promise<void> {
    const target = connect({ host, port });
    this.#loopback.keep(target);
    client.once('close', () => target.destroy());
    target.once('error', () => client.end(reply(HOST_UNREACHABLE)));
    await once(target, 'connect');
    client.write(reply(GRANTED));
    target.pipe(client);
    client.pipe(target);
  }
}

function reply(code: number): Buffer {
  return Buffer.from([5, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}

/** Reads a text that follows its length. */
async function text(socket: Socket, isText = true): Promise<string> {
  if (!isText) throw new Error('expected an IPv4 address or a name');
  const [length = 0] = await bytes(socket, 1);
  return (await bytes(socket, length)).toString();
}

/** Reads the next bytes. Rejects if the socket ends before. */
async function bytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    if (count === 0) return Buffer.alloc(0);
    const read: Buffer | null = socket.read(count);
    if (read !== null && read.length === count) return read;
    if (socket.readableEnded || socket.destroyed) throw new Error('the client is gone');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
}
