import type { FetchedPage } from '../../../ports/fetcher.ts';
import { isObject } from '../../../task/is-object.ts';

type Head = Omit<FetchedPage, 'body'>;

/** Writes a page as one value: a line of JSON that a person can read, then the body's bytes. */
export function writePage({ body, ...head }: FetchedPage): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head satisfies Head)}\n`), body]);
}

/** Reads what {@link writePage} wrote; undefined for anything else, such as a value of another program or version. */
export function readPage(value: Buffer): FetchedPage | undefined {
  const end = value.indexOf(10);
  if (end < 0) return undefined;
  let head: Partial<Head> | null;
  try {
    head = JSON.parse(value.toString('utf8', 0, end));
  } catch {
    return undefined;
  }
  const { finalUrl, status, headers, durationMs } = head ?? {};
  if (typeof finalUrl !== 'string' || !URL.canParse(finalUrl) || !isHeaders(headers)) return undefined;
  if (typeof status !== 'number' || typeof durationMs !== 'number') return undefined;
  return { finalUrl, status, headers, durationMs, body: value.subarray(end + 1) };
}

function isHeaders(headers: unknown): headers is Head['headers'] {
  return isObject(headers) && Object.values(headers).every((value) => typeof value === 'string');
}
