import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { membersOf } from '../../../../../shared/fetchers/decoding/gzip-members.ts';

const data = zlib.deflateRawSync('well');
const trailer = zlib.gzipSync('well').subarray(-8);

/** A member with these flags and fields in its header. */
function member(flags: number, fields: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]),
    Buffer.from(fields, 'latin1'),
    data,
    trailer,
  ]);
}

const plain = member(0, '');

// biome-ignore format: a table
test.each([
  ['only the fixed header',           plain],
  ['a name',                          member(0x08, 'page.html\0')],
  ['a comment',                       member(0x10, 'a comment\0')],
  ['a checksum',                      member(0x02, '\x01\x02')],
  ['an extra field',                  member(0x04, '\x03\x00abc')],
  ['all of them',                     member(0x1e, '\x03\x00abcpage.html\0a comment\0\x01\x02')],
  ['another member after it',         Buffer.concat([plain, member(0x08, 'x\0')])],
])('bytes after a gzip member with %s are cut off', async (_, coded) => {
  expect(await membersOf(Buffer.concat([coded, Buffer.from('rest')]), () => {})).toEqual(coded);
});

// biome-ignore format: a table
test.each([
  ['nothing follows',                 plain],
  ['there is no member',              Buffer.from('<html>')],
  ['the header is cut off',           plain.subarray(0, 9)],
  ['a name has no end',               member(0x08, '').subarray(0, 12).fill(0x61, 10)],
  ['the data are cut off',            plain.subarray(0, 13)],
  ['the trailer is cut off',          plain.subarray(0, plain.length - 1)],
  ['the data are broken',             Buffer.concat([plain.subarray(0, 10), Buffer.from('\xff\xff\xffrest', 'latin1')])],
  ['the second member is cut off',    Buffer.concat([plain, plain.subarray(0, 13)])],
])('a body is left to the decoder as a whole if %s', async (_, coded) => {
  expect(await membersOf(coded, () => {})).toBeUndefined();
});

test('an error that the checkpoint throws ends the search', async () => {
  const late = new Error('too late');
  const checkpoint = (): void => {
    throw late;
  };
  await expect(membersOf(Buffer.concat([plain, Buffer.from('rest')]), checkpoint)).rejects.toBe(late);
});
