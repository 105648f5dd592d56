import type { Socket } from 'node:net';

/** What a network does to the bytes that pass. All is well where nothing is said. */
export interface Weather {
  /** Every byte is so much later. */
  readonly latencyMs?: number;
  /** Nothing passes, in either direction, and nobody is told; what was sent comes once the weather is better. */
  readonly blackhole?: boolean;
  /** Bytes pass in pieces of at most this size. */
  readonly sliceBytes?: number;
  /** After how many bytes a connection is reset. */
  readonly limitBytes?: number;
}

/** Bytes on their way from one socket to another, in order, through the weather. */
export class Flow {
  readonly #to: Socket;
  readonly #from: Socket;
  readonly #reset: () => void;
  #weather: Weather = {};
  #underWay: { readonly dueAt: number; readonly bytes: Buffer }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #passed = 0;
  #isOver = false;

  constructor(from: Socket, to: Socket, reset: () => void) {
    this.#from = from;
    this.#to = to;
    this.#reset = reset;
    to.setNoDelay(true);
    from.on('data', (bytes: Buffer) => {
      this.#take(bytes);
      this.#move();
    });
    to.on('drain', () => {
      if (this.#weather.blackhole !== true) from.resume();
    });
  }

  set weather(weather: Weather) {
    this.#weather = weather;
    if (weather.blackhole === true) this.#from.pause();
    else this.#from.resume();
    this.#move();
  }

  /** One of the sockets has closed: the other one closes when the weather lets it know. */
  end(): void {
    this.#isOver = true;
    this.#move();
  }

  #take(bytes: Buffer): void {
    const { latencyMs = 0, sliceBytes } = this.#weather;
    const dueAt = performance.now() + latencyMs;
    if (sliceBytes === undefined) {
      this.#underWay.push({ dueAt, bytes });
      return;
    }
    // A piece a millisecond: otherwise the kernel would put them together again.
    let last = Math.max(dueAt, this.#underWay.at(-1)?.dueAt ?? 0);
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      last += 1;
      this.#underWay.push({ dueAt: last, bytes: bytes.subarray(at, at + sliceBytes) });
    }
  }

  #move(): void {
    clearTimeout(this.#timer);
    if (this.#weather.blackhole === true) return;
    for (;;) {
      const [next] = this.#underWay;
      if (next === undefined) break;
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0 && !this.#isOver) {
        this.#timer = setTimeout(() => this.#move(), waitMs);
        return;
      }
      this.#underWay.shift();
      this.#pass(next.bytes);
    }
    if (this.#isOver) this.#to.destroy();
  }

  #pass(bytes: Buffer): void {
    const { limitBytes = Number.POSITIVE_INFINITY } = this.#weather;
    this.#passed += bytes.length;
    if (this.#passed > limitBytes) {
      this.#reset();
      return;
    }
    if (this.#to.destroyed) return;
    if (!this.#to.write(bytes)) this.#from.pause();
  }
}
