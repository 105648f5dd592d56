import type { Request } from 'got';
import { FetchError } from '../../ports/fetcher.ts';
import type { BodyShare } from '../body-memory.ts';
import type { WireBody } from '../decoding/wire-body.ts';
import { GatheredBytes } from '../gathered-bytes.ts';
import { emptyFinished } from './finished-request.ts';

/** The body of an answer, read from got's stream. */
export class ReceivedBody implements WireBody {
  readonly #stream: Request;

  constructor(stream: Request) {
    this.#stream = stream;
  }

  /** Uses the stream's events: iterating over the stream would cost as much per page as parsing its links. */
  whole(most: number, tooLong: () => FetchError, share: BodyShare): Promise<Uint8Array> {
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      const gathered = new GatheredBytes();
      share.onRoom = () => stream.resume();
      // Before the listener is added, which would make the stream flow.
      if (!share.take(0)) stream.pause();
      stream.on('data', (chunk: Uint8Array) => {
        gathered.add(chunk);
        if (gathered.length > most) stream.destroy(tooLong());
        else if (!share.take(chunk.length)) stream.pause();
      });
      stream.on('end', () => {
        resolve(gathered.whole());
        // Deferred, since other listeners must still get this event.
        setImmediate(emptyFinished, stream);
      });
      stream.on('error', reject);
      const brokeOff = (): void => reject(stream.errored ?? new FetchError('connection', 'The answer broke off'));
      stream.on('close', brokeOff);
      // The stream can have failed before these listeners were added.
      if (stream.destroyed) brokeOff();
    });
  }

  leave(most: number): void {
    let left = most;
    this.#stream.on('data', (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) this.#stream.destroy();
    });
  }

  destroy(error?: FetchError): void {
    if (error !== undefined || !this.#stream.readableEnded) this.#stream.destroy(error);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#stream[Symbol.asyncIterator]();
  }
}
