import { hash } from 'node:crypto';
import { mediaTypeOf } from '../../../shared/crawler/document/media-type.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { askedFrom, FILE_STEP, type StoredFile } from '../../../shared/crawler/file-step.ts';
import { Page } from '../../../shared/crawler/page.ts';
import type { FileStore } from '../../../shared/ports/file-store.ts';
import type { ReadPage } from './fallbacks.ts';
import { extensionOf, fileNamesOf } from './file-name.ts';
import type { Arrival, Visit } from './visit.ts';

const NO_BODY = new Uint8Array();

/**
 * Stores a file that a step asked for, and returns what a step would emit for it. Its page is otherwise empty: nothing in a file is read,
 * followed, or kept as content.
 *
 * @throws the store's errors
 */
export async function storeFile({ task }: Visit, arrival: Arrival, files: FileStore): Promise<ReadPage> {
  const { body, headers, finalUrl } = arrival.fetched;
  const contentType = mediaTypeOf(headers['content-type']);
  const contentHash = hash('sha256', body);
  const names = fileNamesOf({ disposition: headers['content-disposition'], url: finalUrl });
  const extension = extensionOf(contentType, names);
  const path = await files.put({ run: task.run, body, hash: contentHash, extension });
  const data: StoredFile = {
    url: task.url,
    path,
    name: names[0] ?? null,
    bytes: body.byteLength,
    contentType: contentType ?? null,
    hash: contentHash,
    ...askedFrom(task),
  };
  const extract: Extract = { data, items: 1, follows: [], unmet: [], by: FILE_STEP };
  return { arrival, page: new Page(task, { ...arrival.fetched, body: NO_BODY }), extract };
}
