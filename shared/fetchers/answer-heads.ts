import type { Socket } from 'node:net';
import { ChunkLines } from './chunk-lines.ts';
import { MOST_HEADER_BYTES } from './fetcher-options.ts';
import { isSoundHead, repairedHead } from './repaired-head.ts';

/** The end of a head: an empty line. */
const END = /\n\r{0,3}\n/g;
/** Bytes of it that an earlier chunk can have ended with. */
const MOST_END_BYTES = 4;
/** Start of every head. Anything else goes to the parser at once. */
const BEGINNING = 'http/';
/** An interim answer: another one follows (RFC 9110 section 15.2). */
const INTERIM = /^\S+[ \t]+1\d\d(?!\d)/;
const CHUNKED = /\ntransfer-encoding:[^\r\n]*chunked[ \t]*\r\n/i;

/**
 * Feeds the answers of an HTTP/1.1 connection to its parser. Bodies pass unchanged, except for {@link ChunkLines}; a head passes through
 * {@link repairedHead} once it is complete, or unchanged if it is too long for the parser. Interim answers are dropped: nobody waits for
 * one, and parsers mistake some of them for the end of the connection.
 */
export class AnswerHeads {
  static readonly #known = new WeakMap<Socket, AnswerHeads>();
  /** Passes bytes on to the parser. */
  readonly #push: (chunk: Buffer | null) => boolean;
  readonly #isLenient: boolean;
  /** Whether the next byte belongs to a head. */
  #isHead = true;
  /** The chunks of the answer's body, as long as their lines may need repair. */
  #chunks: ChunkLines | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The last bytes of those held. */
  #tail = '';

  /**
   * Notes that the next bytes on the connection are an answer.
   *
   * @param isLenient whether its head is read as browsers read it; must be false where one connection carries answers of several sites
   */
  static expect(socket: Socket, isLenient: boolean): void {
    const known = AnswerHeads.#known.get(socket);
    if (known === undefined) AnswerHeads.#known.set(socket, new AnswerHeads(socket, isLenient));
    else {
      known.#isHead = true;
      known.#chunks = undefined;
    }
  }

  private constructor(socket: Socket, isLenient: boolean) {
    this.#isLenient = isLenient;
    this.#push = socket.push.bind(socket);
    // Node.js calls this with the bytes it has read.
    socket.push = (chunk: Buffer | null) => {
      if (chunk === null) {
        this.#release();
        return this.#push(chunk);
      }
      return this.#isHead ? this.#take(chunk) : this.#push(this.#body(chunk));
    };
  }

  /** Returns whether more can be read. */
  #take(chunk: Buffer): boolean {
    const sound = this.#heldBytes === 0 ? soundHeadOf(chunk) : undefined;
    if (sound !== undefined) return this.#passAnswer(sound, sound, chunk);
    const text = this.#tail + chunk.toString('latin1');
    const isBeginning = this.#heldBytes <= this.#tail.length;
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    this.#tail = text.slice(-MOST_END_BYTES);
    if (isBeginning && !beginsHead(text)) return this.#release();
    // Much of the body can have come with the end of its head.
    if (text.search(END) >= 0) return this.#passHeads(this.#takeHeld());
    return this.#heldBytes <= MOST_HEADER_BYTES || this.#release();
  }

  /** Passes on the first final head, and everything behind it. */
  #passHeads(read: Buffer): boolean {
    const text = read.toString('latin1');
    let start = 0;
    for (const { 0: emptyLine, index } of text.matchAll(END)) {
      const end = index + emptyLine.length;
      const head = text.slice(start, end);
      if (!INTERIM.test(head)) {
        return this.#passAnswer(head, this.#isLenient ? repairedHead(head) : head, read.subarray(start));
      }
      start = end;
    }
    return start === read.length || this.#take(read.subarray(start));
  }

  /** @param read the head as it was received, and everything behind it */
  #passAnswer(head: string, repaired: string, read: Buffer): boolean {
    this.#isHead = false;
    if (this.#isLenient && CHUNKED.test(repaired)) this.#chunks = new ChunkLines();
    const received = read.subarray(head.length);
    const body = this.#body(received);
    if (repaired === head && body === received) return this.#push(read);
    return this.#push(Buffer.concat([Buffer.from(repaired, 'latin1'), body]));
  }

  #body(received: Buffer): Buffer {
    const body = this.#chunks?.repaired(received) ?? received;
    if (this.#chunks?.isDone) this.#chunks = undefined;
    return body;
  }

  /** Passes on the held bytes unchanged. */
  #release(): boolean {
    this.#isHead = false;
    return this.#heldBytes === 0 || this.#push(this.#takeHeld());
  }

  #takeHeld(): Buffer {
    const [first] = this.#held;
    const held = this.#held.length === 1 && first !== undefined ? first : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    this.#tail = '';
    return held;
  }
}

function beginsHead(text: string): boolean {
  return text.slice(0, BEGINNING.length).toLowerCase().startsWith(BEGINNING.slice(0, text.length));
}

/** Returns the head with which a chunk begins, if it is complete and needs no repair, as most are. */
function soundHeadOf(chunk: Buffer): string | undefined {
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0 || end >= MOST_HEADER_BYTES) return undefined;
  const head = chunk.toString('latin1', 0, end + 4);
  return isSoundHead(head) ? head : undefined;
}
