import type { z } from 'zod';
import { Problem } from './problem.ts';

/** Reads and writes the opaque `next` of a page, which holds the place in the list where the following page begins. */
export class PageCursor<T> {
  readonly #place: z.ZodType<T>;

  constructor(place: z.ZodType<T>) {
    this.#place = place;
  }

  written(place: T): string {
    return Buffer.from(JSON.stringify(place)).toString('base64url');
  }

  /** @throws Problem if this cursor was not written by `written` */
  read(cursor: string): T {
    try {
      return this.#place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    } catch {
      throw new Problem('usage', 'querystring.cursor: expected `next` of the previous answer');
    }
  }
}
