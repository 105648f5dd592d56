import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * The answers under way on an HTTP/2 connection. While what has come of them isn't read, the end of the connection is kept from Node.js
 * and undici, which would destroy them with it.
 *
 * A server may end a connection right behind an answer, as nginx does with its thousandth. The end overtakes frames: Node.js hands over
 * none while it writes, and then one for each turn of the event loop.
 */
export class OpenAnswers {
  readonly #open = new Set<ClientHttp2Stream>();
  /** Those of them whose last frame has come. */
  readonly #complete = new Set<ClientHttp2Stream>();
  readonly #endConnection: () => void;
  #pieces = 0;
  #isDrained = false;

  /** @param onEnd called when the end of the connection has to wait */
  constructor(socket: Socket, onEnd: () => void) {
    const push = socket.push.bind(socket);
    this.#endConnection = () => {
      if (socket.destroyed) return;
      push(null);
      socket.read(0);
    };
    // Node.js calls it at the end only: frames take another way.
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk !== null || this.#open.size === 0) return push(chunk, encoding);
      onEnd();
      this.#drain();
      return false;
    };
  }

  add(stream: ClientHttp2Stream): void {
    this.#open.add(stream);
    const leave = (): void => this.#leave(stream);
    stream.once('end', leave).once('close', leave);
  }

  /** Notes a piece of an answer, or its last frame. */
  note(stream: ClientHttp2Stream, isLast: boolean): void {
    this.#pieces += 1;
    if (isLast && this.#open.has(stream)) this.#complete.add(stream);
  }

  /** Waits until a turn of the event loop brings nothing more. */
  #drain(): void {
    const before = this.#pieces;
    setImmediate(() => {
      if (this.#pieces > before) {
        this.#drain();
        return;
      }
      this.#isDrained = true;
      if (this.#complete.size === 0) this.#endConnection();
    });
  }

  #leave(stream: ClientHttp2Stream): void {
    this.#open.delete(stream);
    if (this.#complete.delete(stream) && this.#isDrained && this.#complete.size === 0) this.#endConnection();
  }
}
