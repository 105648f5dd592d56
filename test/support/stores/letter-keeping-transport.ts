import type { LocalLetters } from '../../../shared/ports/local-letters.ts';
import type { DeadLetterMessage, DeadLetters, LetterJudge } from '../../../shared/ports/transport.ts';
import { LocalTransport } from '../../../shared/transports/local.ts';

interface LetterKeepingOptions extends Omit<ConstructorParameters<typeof LocalTransport>[0], 'letters'> {
  readonly letters: LocalLetters;
}

/** The transport of one process together with its dead letters, so that a test can read what was published. */
export class LetterKeepingTransport extends LocalTransport implements DeadLetters {
  readonly #kept: LocalLetters;

  constructor(options: LetterKeepingOptions) {
    super(options);
    this.#kept = options.letters;
  }

  browse(limit: number): Promise<readonly DeadLetterMessage[]> {
    return this.#kept.browse(limit);
  }

  sift(judge: LetterJudge, signal?: AbortSignal): Promise<void> {
    return this.#kept.sift(judge, signal);
  }
}
