import type { z } from 'zod';
import { Problem } from './problem.ts';

/** What `next` of a page holds, for the request of the one after it: a place in a list, which nobody else reads. */
export class PageCursor<T> {
  readonly #place: z.ZodType<T>;

  constructor(place: z.ZodType<T>) {
    this.#place = place;
  }

  written(place: T): string {
    return Buffer.from(JSON.stringify(place)).toString('base64url');
  }

  /** @throws Problem if none of ours wrote it */
  read(cursor: string): T {
    try {
      return this.#place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    } catch {
      throw new Problem('usage', 'querystring.cursor: expected `next` of the answer before');
    }
  }
}
