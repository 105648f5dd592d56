import { type KnownPage, PAGE_RETENTION_MS } from '../../task/task/known-page.ts';

/** What incremental runs remember of pages, by their marks: the memory form of `page:<mark>`. */
export interface PageTable {
  /** @param now epoch milliseconds */
  get(mark: string, now: number): KnownPage | undefined;
  set(mark: string, page: KnownPage): void;
  /** Forgets those that are meant. */
  forget(isMeant: (mark: string) => boolean): void;
}

/** Gone with its process. */
export class MemoryPages implements PageTable {
  readonly #pages = new Map<string, KnownPage>();

  get(mark: string, now: number): KnownPage | undefined {
    const page = this.#pages.get(mark);
    return page !== undefined && now - page.fetchedAt < PAGE_RETENTION_MS ? page : undefined;
  }

  set(mark: string, page: KnownPage): void {
    this.#pages.set(mark, page);
  }

  forget(isMeant: (mark: string) => boolean): void {
    for (const mark of this.#pages.keys()) if (isMeant(mark)) this.#pages.delete(mark);
  }
}
