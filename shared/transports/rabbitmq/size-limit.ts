import { messageOf } from '../../runtime/errors.ts';
import { MINUTE_MS } from '../../task/durations.ts';

/** How long a learned limit is believed. After that, one message tries whether it has been raised. */
const BELIEVED_MS = MINUTE_MS;
/** The broker's refusal of a message that is larger than its `max_message_size`. It closes the channel. */
const REFUSAL = /message size (\d+) is larger than configured max size (\d+)/;

/** What the broker says about a message that is too large, in bytes. */
export interface TooLarge {
  readonly bytes: number;
  readonly limit: number;
}

/** Reads the broker's refusal of a message that is too large; `undefined` for any other error. */
export function readTooLarge(error: unknown): TooLarge | undefined {
  const [, bytes, limit] = REFUSAL.exec(messageOf(error)) ?? [];
  return bytes === undefined || limit === undefined ? undefined : { bytes: Number(bytes), limit: Number(limit) };
}

/** Says what to do about a message that the broker refuses as too large. */
export function tooLargeText({ bytes, limit }: TooLarge): string {
  return `a message of ${bytes} bytes is larger than its max_message_size, ${limit}: raise that in rabbitmq.conf`;
}

/**
 * The largest message that the broker takes. It tells its `max_message_size` only by closing the channel of one that is larger, which
 * leaves the fate of others unknown, so what it has told is remembered.
 */
export class SizeLimit {
  readonly #now: () => number;
  #limit = Number.POSITIVE_INFINITY;
  #believedUntil = Number.NEGATIVE_INFINITY;
  #metAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Remembers the limit, if this is the error of a channel that was closed for it. */
  learn(error: unknown): TooLarge | undefined {
    const told = readTooLarge(error);
    if (told === undefined) return undefined;
    this.#limit = told.limit;
    this.#metAt = this.#now();
    this.#believedUntil = this.#metAt + BELIEVED_MS;
    return told;
  }

  /** Returns whether a message must not be sent, may be sent with others, or is `doubtful`: to be sent while no other is unconfirmed. */
  judge(bytes: number): 'fits' | 'doubtful' | 'too_large' {
    if (bytes <= this.#limit) return 'fits';
    this.#metAt = this.#now();
    if (this.#metAt < this.#believedUntil) return 'too_large';
    // All others wait for this one's answer.
    this.#believedUntil = this.#metAt + BELIEVED_MS;
    return 'doubtful';
  }

  /** Forgets the limit if a message beyond it was taken. */
  taken(bytes: number): void {
    if (bytes > this.#limit) this.#limit = Number.POSITIVE_INFINITY;
  }

  /** Whether a message was too large within the last minutes. */
  get isRecent(): boolean {
    return this.#limit < Number.POSITIVE_INFINITY && this.#now() - this.#metAt < 3 * BELIEVED_MS;
  }
}
