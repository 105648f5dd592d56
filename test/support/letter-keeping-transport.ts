import type {
  DeadLetterMessage,
  DeadLetters,
  LetterJudge,
  OutgoingMessage,
  PublishOutcome,
  QueueDepths,
} from '../../shared/ports/transport.ts';
import { LocalTransport } from '../../shared/transports/local.ts';

const LETTERS_AT_ONCE = 1_000;
const ENCODER = new TextEncoder();

/** The transport of one process, with dead letters that a test can read: held to the contract of those in RabbitMQ. */
export class LetterKeepingTransport extends LocalTransport implements DeadLetters {
  #letters: DeadLetterMessage[] = [];

  override async publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishOutcome[]> {
    for (const { to, id, body, headers } of messages) {
      if (to !== 'failed') continue;
      this.#letters.push({ id, body: typeof body === 'string' ? ENCODER.encode(body) : body, headers });
    }
    return await super.publish(messages);
  }

  override async depths(): Promise<QueueDepths> {
    return { ...(await super.depths()), failed: { ready: this.#letters.length, consumers: 0 } };
  }

  async browse(limit: number): Promise<readonly DeadLetterMessage[]> {
    return this.#letters.slice(0, limit);
  }

  async sift(judge: LetterJudge, signal?: AbortSignal): Promise<void> {
    const letters = [...this.#letters];
    for (let at = 0; at < letters.length && signal?.aborted !== true; at += LETTERS_AT_ONCE) {
      const some = letters.slice(at, at + LETTERS_AT_ONCE);
      const fates = await judge(some);
      const gone = new Set(some.filter((_, i) => fates[i] === 'delete'));
      if (gone.size > 0) this.#letters = this.#letters.filter((letter) => !gone.has(letter));
    }
  }
}
