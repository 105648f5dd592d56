import { describe, expect, test } from 'vitest';
import type { DoneRecord } from '../../../../shared/ports/record.ts';
import { recordJson } from '../../../../shared/sinks/record-json.ts';
import { MAX_RECORD_BYTES } from '../../../../shared/task/task/page-limits.ts';
import { doneRecord, failedRecord } from '../../../support/builders.ts';

const URL_OF_PAGE = 'http://a.test/1';

function written(content: string): { readonly bytes: number; readonly record: DoneRecord } {
  const json = recordJson(doneRecord(URL_OF_PAGE, { content }));
  return { bytes: Buffer.byteLength(json), record: JSON.parse(json) as DoneRecord };
}

// biome-ignore format: a table
const contents: readonly (readonly [name: string, character: string, bytes: number])[] = [
  ['ASCII',                    'x',           1],
  ['two bytes',                'é',           2],
  ['three bytes',              '…',           3],
  ['surrogate pairs',          '\u{1f600}',   4],
  ['quotes',                   '"',           2],
  ['control characters',       '\u0001',      6],
  ['halves of surrogate pairs', '\ud83d',     6],
  ['mixed',                    'a"é…\u{1f600}\n', 14],
];

describe('a record is a line of at most 4 MiB', () => {
  test.each(contents)('content of %s is cut to what fits, and nearly fills it', (_, character, size) => {
    const content = character.repeat(Math.ceil((MAX_RECORD_BYTES + 100) / size));
    const { bytes, record } = written(content);
    expect(bytes).toBeLessThanOrEqual(MAX_RECORD_BYTES);
    expect(bytes).toBeGreaterThan(MAX_RECORD_BYTES - 1_000);
    expect(content.startsWith(record.content ?? 'nothing')).toBe(true);
    expect(record.truncated).toEqual(['content']);
  });

  test('content that was cut before is listed once', () => {
    const content = 'x'.repeat(MAX_RECORD_BYTES);
    const json = recordJson(doneRecord(URL_OF_PAGE, { content, truncated: ['links', 'content'] }));
    expect((JSON.parse(json) as DoneRecord).truncated).toEqual(['links', 'content']);
  });

  test.each(contents)('content of %s that just fits is whole', (_, character, size) => {
    const room = MAX_RECORD_BYTES - written('').bytes;
    const content = character.repeat(Math.floor(room / size));
    const { bytes, record } = written(content);
    expect(bytes).toBeLessThanOrEqual(MAX_RECORD_BYTES);
    expect(record.content === content && record.truncated === undefined).toBe(true);
  });

  test('no surrogate pair is cut in two', () => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const { record } = written(shift + '\u{1f600}'.repeat(MAX_RECORD_BYTES));
      expect(record.content?.isWellFormed()).toBe(true);
    }
  });

  test('content of 100 MB costs no more than what is kept of it', () => {
    const began = process.memoryUsage().heapUsed;
    const { bytes } = written('\u0001'.repeat(100_000_000));
    expect(bytes).toBeLessThanOrEqual(MAX_RECORD_BYTES);
    expect(process.memoryUsage().heapUsed - began).toBeLessThan(400_000_000);
  });

  test.each<[string, unknown, reason: string]>([
    ['too large', 'x'.repeat(MAX_RECORD_BYTES), 'too_large'],
    ['too large in bytes, not in characters', '…'.repeat(MAX_RECORD_BYTES / 2), 'too_large'],
    ['a circle', Object.assign([] as unknown[], { 0: {} }).map((item, _, list) => [item, list, 1n]), 'schema'],
  ])('data that are %s are refused, with content and without', (_, data, reason) => {
    for (const extra of [{ data }, { data, content: 'text' }]) {
      expect(() => recordJson(doneRecord(URL_OF_PAGE, extra))).toThrow(
        expect.objectContaining({ name: 'RecordRefusedError', reason }),
      );
    }
  });

  test('a failure is written as it is', () => {
    const record = failedRecord(URL_OF_PAGE, { error: 'HTTP 404' });
    expect(JSON.parse(recordJson(record))).toEqual(record);
  });
});
