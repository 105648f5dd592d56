import type { DoneRecord, PageRecord } from '../ports/record.ts';
import { RecordRefusedError } from '../ports/sink.ts';
import { messageOf } from '../runtime/errors.ts';
import { MAX_RECORD_BYTES, type PagePart } from '../task/task/page-limits.ts';

/** Characters of content measured per step. */
const MEASURED_LENGTH = 65_536;

/**
 * Returns a record as one line of JSON, at most {@link MAX_RECORD_BYTES} long in UTF-8. Cuts the page's content to fit.
 *
 * @throws RecordRefusedError if the data can't be written as JSON (a BigInt, a cycle), or are too large even without content
 */
export function recordJson(record: PageRecord): string {
  if (record.outcome !== 'done' || record.content === undefined) return fitting(jsonOf(record));
  const { content } = record;
  // Every character takes at least one byte, so longer content can't fit.
  if (content.length <= MAX_RECORD_BYTES) {
    const json = jsonOf(record);
    if (fits(json)) return json;
  }
  const cut: DoneRecord = { ...record, truncated: withContent(record.truncated), content: '' };
  const room = MAX_RECORD_BYTES - Buffer.byteLength(fitting(jsonOf(cut)));
  return jsonOf({ ...cut, content: beginningOf(content, room) });
}

function withContent(truncated: DoneRecord['truncated'] = []): readonly PagePart[] {
  return truncated.includes('content') ? truncated : [...truncated, 'content'];
}

function jsonOf(record: PageRecord): string {
  try {
    return JSON.stringify(record);
  } catch (error: unknown) {
    const reason = error instanceof RangeError ? 'too_large' : 'schema';
    throw new RecordRefusedError(`the record can't be written as JSON: ${messageOf(error)}`, { reason, cause: error });
  }
}

/** Returns whether JSON is short enough. For most records, the length alone shows that, without counting bytes. */
function fits(json: string): boolean {
  return json.length * 3 <= MAX_RECORD_BYTES || Buffer.byteLength(json) <= MAX_RECORD_BYTES;
}

function fitting(json: string): string {
  if (fits(json)) return json;
  const size = `${Buffer.byteLength(json)} bytes of JSON where at most ${MAX_RECORD_BYTES} are allowed`;
  const mend = 'let the crawler return less data';
  throw new RecordRefusedError(`the record is too large: ${size}; ${mend}`, { reason: 'too_large' });
}

/** Returns the longest beginning of a text that takes at most this many bytes in JSON. */
function beginningOf(text: string, bytes: number): string {
  let [end, left, step] = [0, bytes, MEASURED_LENGTH];
  while (step > 0 && end < text.length) {
    const size = Buffer.byteLength(JSON.stringify(text.slice(end, end + step))) - 2;
    if (size <= left) {
      end = Math.min(end + step, text.length);
      left -= size;
    } else {
      step >>= 1;
    }
  }
  // Must not end with half of a surrogate pair.
  return text.slice(0, end).replace(/[\ud800-\udbff]$/, '');
}
