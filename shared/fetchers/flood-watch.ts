import type { Socket } from 'node:net';
import { FetchError } from '../ports/fetcher.ts';
import { MOST_HEADER_BYTES } from './fetcher-options.ts';

/** Time between two looks. */
const LOOK_MS = 1_000;
/** Maximum bytes between two looks that belong to no answer. */
const MOST_BYTES = 1_048_576;
/** Maximum bytes on the wire for one byte of a body: chunks, frames and TLS records of a single byte take fewer. */
const MOST_PER_BODY_BYTE = 64;

/**
 * Ends a connection whose server sends far more than its answers: interim answers or empty lines without end, endless extensions of chunks,
 * and over HTTP/2 frames that carry nothing. Each costs CPU time, and none reaches the limits of an answer.
 */
export class FloodWatch {
  readonly #socket: Socket;
  readonly #answerBytes: () => number;
  readonly #onFlood: (error: FetchError) => void;
  readonly #timer: NodeJS.Timeout;
  #heard: number;
  #answered = 0;

  /** @param answerBytes returns how many bytes the connection's answers may have taken so far: see {@link mostOnTheWire} */
  constructor(socket: Socket, answerBytes: () => number, onFlood: (error: FetchError) => void) {
    this.#socket = socket;
    this.#answerBytes = answerBytes;
    this.#onFlood = onFlood;
    this.#heard = socket.bytesRead;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const [heard, answered] = [this.#socket.bytesRead, this.#answerBytes()];
    const isFlooded = heard - this.#heard > answered - this.#answered + MOST_BYTES;
    [this.#heard, this.#answered] = [heard, answered];
    const message = `The server sent more than ${MOST_BYTES} bytes in a second that belong to no answer`;
    if (isFlooded) this.#onFlood(new FetchError('connection', message));
  }
}

/** Returns the bytes that a number of answers, with bodies of so many bytes in all, take at most. */
export function mostOnTheWire(answers: number, bodyBytes: number): number {
  return answers * MOST_HEADER_BYTES + bodyBytes * MOST_PER_BODY_BYTE;
}
