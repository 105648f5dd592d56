import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LoopbackServer } from '../listeners/loopback-server.ts';
import { selfSigned } from '../site/certificate.ts';

/** How a proxy behaves. With `{ status }` it answers every request, CONNECT and absolute form alike, with that status. */
export type ProxyMood = 'works' | 'hangs' | 'hangs up' | 'no HTTP' | { readonly status: number };

interface HttpProxyOptions {
  /** `user:password`; without it, the proxy accepts all clients. */
  readonly login?: string;
  /** Clients reach the proxy itself over TLS. */
  readonly tls?: boolean;
}

/** An HTTP proxy on a free port of loopback: CONNECT and absolute form, with Basic authorization if it has a login. */
export class HttpProxy {
  readonly #login: string | undefined;
  readonly #tls: boolean;
  readonly #server: Server;
  readonly #loopback: LoopbackServer;
  /** Its requests in order: `CONNECT host:port`, `GET http://…`. */
  readonly asked: string[] = [];
  mood: ProxyMood = 'works';
  connections = 0;
  #onAsked: (() => void)[] = [];

  constructor({ login, tls = false }: HttpProxyOptions = {}) {
    this.#login = login;
    this.#tls = tls;
    const forward = (request: IncomingMessage, response: ServerResponse): void => this.#forward(request, response);
    this.#server = tls ? https.createServer(selfSigned, forward) : http.createServer(forward);
    this.#server.keepAliveTimeout = 0;
    this.#loopback = new LoopbackServer(this.#server);
    this.#server.on('connect', (request, socket, head) => this.#tunnel(request, socket, head));
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#loopback.keep(socket);
      if (this.mood === 'no HTTP') socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    });
  }

  async start(port = 0): Promise<void> {
    await this.#loopback.listen(port);
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    await this.#loopback.stop();
  }

  get port(): number {
    return this.#loopback.port;
  }

  /** Its URL for `PROXY_URL`, with the login. */
  get url(): string {
    const at = this.#login === undefined ? '' : `${this.#login}@`;
    return `${this.#tls ? 'https' : 'http'}://${at}127.0.0.1:${this.port}`;
  }

  /** Resolves at its next request. */
  question(): Promise<void> {
    return new Promise((resolve) => this.#onAsked.push(resolve));
  }

  /** Resolves once no connection is open. If a client leaks one, the test times out. */
  async disconnection(): Promise<void> {
    await this.#loopback.allClosed();
  }

  /** Logs the request, and returns the status to refuse it with: `undefined` to let it through, 0 to give no answer. */
  #refusal({ method, url, headers }: IncomingMessage): number | undefined {
    this.asked.push(`${method} ${url}`);
    for (const wake of this.#onAsked.splice(0)) wake();
    if (typeof this.mood === 'object') return this.mood.status;
    if (this.mood !== 'works') return 0;
    const wanted = this.#login && `Basic ${Buffer.from(this.#login).toString('base64')}`;
    return wanted === undefined || headers['proxy-authorization'] === wanted ? undefined : 407;
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.#refusal(request);
    if (refusal === 0) {
      if (this.mood === 'hangs up') request.socket.destroy();
      return;
    }
    if (refusal !== undefined) {
      response.writeHead(refusal).end('says the proxy');
      return;
    }
    const target = new URL(request.url ?? '');
    const { 'proxy-authorization': _, connection: __, ...headers } = request.headers;
    const onward = http.request(target, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  }

  #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): void {
    const refusal = this.#refusal(request);
    if (refusal === 0) {
      if (this.mood === 'hangs up') client.destroy();
      // Without reading, the end of the client would go unnoticed.
      client.resume().once('end', () => client.destroy());
      return;
    }
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 14\r\n\r\nsays the proxy`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect({ host: hostname, port: Number(port || 80) });
    this.#loopback.keep(target);
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(client);
      client.pipe(target);
    });
    target.once('error', () => client.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'));
    client.once('close', () => target.destroy());
  }
}
