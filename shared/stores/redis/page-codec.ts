import type { FetchedPage } from '../../ports/fetcher.ts';

type Head = Omit<FetchedPage, 'body'>;

/** A page as one value: a line of JSON that a person can read, then the body's bytes. */
export function writePage({ body, ...head }: FetchedPage): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head satisfies Head)}\n`), body]);
}

/** Reads what {@link writePage} wrote; undefined for anything else. */
export function readPage(value: Buffer): FetchedPage | undefined {
  const end = value.indexOf(10);
  if (end < 0) return undefined;
  try {
    const head = JSON.parse(value.toString('utf8', 0, end)) as Head;
    return { ...head, body: value.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
