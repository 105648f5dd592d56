import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { prometheusContentType } from 'prom-client';
import { messageOf } from '../runtime/errors.ts';
import type { Service } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';

interface MetricsServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Returns the metrics in the Prometheus text format. */
  readonly read: () => Promise<string>;
  readonly log: Logger;
  /** This process ends soon: a port that can't be opened is logged as `info`, not as a warning. */
  readonly isBrief?: boolean | undefined;
}

/** Time limit for a client to send its request. A slow one holds up nobody else, but keeps its connection open. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `GET /metrics`, and nothing else. If the port is taken or not allowed, `start` logs that and serves no metrics: a crawl
 * doesn't end because nobody can watch it.
 */
export class MetricsServer implements Service {
  readonly #options: MetricsServerOptions;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server.headersTimeout = REQUEST_TIMEOUT_MS;
  }

  /** The URL of the metrics; nothing if the port could not be opened. */
  get url(): string | undefined {
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) return undefined;
    const { address: host, port, family } = address;
    return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}/metrics`;
  }

  async start(): Promise<void> {
    const { host, port, log, isBrief = false } = this.#options;
    if (this.#server.listening) return;
    try {
      this.#server.listen(port, host);
      await once(this.#server, 'listening');
      this.#server.unref();
      log.info({ url: this.url }, 'serving metrics:');
    } catch (error: unknown) {
      const say = isBrief ? log.info : log.warn;
      say.call(log, { error: messageOf(error) }, 'no metrics are served (METRICS_HOST, METRICS_PORT):');
    }
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*$/s, '');
    if (path !== '/metrics') return say(response, 404, 'Metrics are at /metrics.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return say(response, 405, 'Metrics are read with GET.\n');
    }
    try {
      const text = await this.#options.read();
      response.setHeader('content-type', prometheusContentType);
      response.end(request.method === 'HEAD' ? undefined : text);
    } catch (error: unknown) {
      this.#options.log.warn({ error: messageOf(error) }, 'metrics could not be read:');
      say(response, 503, 'The metrics could not be read.\n');
    }
  }
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}
