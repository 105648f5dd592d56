import type { Socket } from 'node:net';

/** What a network does to passing bytes. By default it passes them on at once. */
export interface Weather {
  /** Delay of every byte. */
  readonly latencyMs?: number;
  /** Nothing passes in either direction, and neither side notices. What was sent arrives once the weather is better. */
  readonly blackhole?: boolean;
  /** Bytes pass in pieces of at most this size. */
  readonly sliceBytes?: number;
  /** Bytes after which a connection is reset. */
  readonly limitBytes?: number;
}

/** Passes bytes from one socket to another, in order, through the weather. */
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

  /** Handles the close of one socket: the other one closes when the weather lets the news through. */
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
    // One piece per millisecond: otherwise the kernel would join them again.
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
