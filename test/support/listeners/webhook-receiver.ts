import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { LoopbackServer } from './loopback-server.ts';

/** A request that a receiver got. */
export interface Heard {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** How a receiver answers: with a status, a redirect, or not at all. */
export type Reaction = number | 'hang' | { readonly redirectTo: string };

/** A receiver of webhooks on loopback that answers with the given reactions in turn, and then keeps repeating the last one. */
export class WebhookReceiver {
  readonly heard: Heard[] = [];
  readonly #server: LoopbackServer;
  #reactions: readonly Reaction[];
  readonly #held: ServerResponse[] = [];

  private constructor(reactions: readonly Reaction[]) {
    this.#reactions = reactions;
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        this.heard.push({ path: request.url ?? '', headers: request.headers as Record<string, string>, body });
        this.#react(response);
      });
    });
    this.#server = new LoopbackServer(server);
    server.on('connection', (socket) => this.#server.keep(socket));
  }

  static async open(...reactions: readonly Reaction[]): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(reactions);
    await receiver.#server.listen();
    onTestFinished(() => receiver.#server.stop());
    return receiver;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.#server.port}${path}`;
  }

  /** The ids of the webhooks it got, each once. */
  get ids(): readonly (string | undefined)[] {
    return [...new Set(this.heard.map(({ headers }) => headers['webhook-id']))];
  }

  /** Number of deliveries without an answer that are still open. */
  get held(): number {
    return this.#held.filter(({ destroyed }) => !destroyed).length;
  }

  /** Sets the reactions from now on. */
  reacts(...reactions: readonly Reaction[]): void {
    this.#reactions = reactions;
  }

  #react(response: ServerResponse): void {
    const [reaction = 204, ...later] = this.#reactions;
    if (later.length > 0) this.#reactions = later;
    if (reaction === 'hang') this.#held.push(response);
    else if (typeof reaction === 'number') response.writeHead(reaction).end();
    else response.writeHead(302, { location: reaction.redirectTo }).end();
  }
}
