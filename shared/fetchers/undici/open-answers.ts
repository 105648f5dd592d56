import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * The answers in progress on an HTTP/2 connection. Until the bytes already received for them are read, it hides the end of the connection
 * from Node.js and undici, which would destroy the answers with it.
 *
 * A server can end a connection right behind an answer, as nginx does with its thousandth. The end overtakes frames, since Node.js hands
 * over no frames while it writes, and then one for each turn of the event loop.
 */
export class OpenAnswers {
  readonly #open = new Set<ClientHttp2Stream>();
  /** The open ones whose last frame has come. */
  readonly #complete = new Set<ClientHttp2Stream>();
  readonly #endConnection: () => void;
  #pieces = 0;
  #isDrained = false;

  /** @param onEnd called when the end of the connection is held back */
  constructor(socket: Socket, onEnd: () => void) {
    const push = socket.push.bind(socket);
    this.#endConnection = () => {
      if (socket.destroyed) return;
      push(null);
      socket.read(0);
    };
    // Node.js calls this only at the end: frames take another way.
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
