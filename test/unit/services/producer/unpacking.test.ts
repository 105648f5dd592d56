import { deflateRawSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BodyError } from '../../../../services/producer/documents/body-error.ts';
import { unpacked } from '../../../../services/producer/documents/unpacking.ts';
import { emptyBlocks, gzipOf } from '../../../support/hostile/deflate-blocks.ts';

const TEXT = Buffer.from('https://example.com/a\n'.repeat(1_000));

async function* inPieces(bytes: Uint8Array, step: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

/** Adds an extra field, name, comment and header checksum, none of which `gzipSync` writes. */
function withEveryField(packed: Buffer): Buffer {
  const header = Buffer.from(packed.subarray(0, 10));
  header[3] = 0b11110;
  return Buffer.concat([header, Buffer.from('\u0003\0abcname\0comment\0\0\0', 'latin1'), packed.subarray(10)]);
}

/** Unpacks `bytes`. Returns the output and the error it ended with, if any. */
async function unpack(bytes: Uint8Array, { step = 1_000, maxBytes = 1_000_000 } = {}) {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of unpacked(inPieces(bytes, step), maxBytes)) pieces.push(piece);
  } catch (error: unknown) {
    return { bytes: Buffer.concat(pieces), error };
  }
  return { bytes: Buffer.concat(pieces), error: undefined };
}

test.each<[string, Buffer]>([
  ['that is not packed', TEXT],
  ['that is packed', gzipSync(TEXT)],
  ['packed three times', gzipSync(gzipSync(gzipSync(TEXT)))],
  ['in two members', Buffer.concat([gzipSync(TEXT.subarray(0, 5_000)), gzipSync(TEXT.subarray(5_000))])],
  ['padded with zeros', Buffer.concat([gzipSync(TEXT), Buffer.alloc(5_000)])],
  ['followed by something else', Buffer.concat([gzipSync(TEXT), Buffer.from('<!-- cached -->')])],
  ['with a name, a comment and more in its header', withEveryField(gzipSync(TEXT))],
  ['of no bytes', Buffer.alloc(0)],
  ['of one byte', Buffer.from([0x1f])],
])('a body %s is unpacked, in pieces of any size', async (_, body) => {
  for (const step of [1, 1_000, 1_000_000]) {
    const { bytes, error } = await unpack(body, { step });
    expect(error).toBeUndefined();
    expect(bytes.equals(body.length < 2 ? body : TEXT)).toBe(true);
  }
});

test('truncated gzip data gives the complete part and then an error', async () => {
  for (const step of [1, 1_000_000]) {
    const { bytes, error } = await unpack(gzipSync(TEXT).subarray(0, -20), { step });
    expect(bytes.length).toBeGreaterThan(TEXT.length / 2);
    expect(error).toEqual(new BodyError('has broken gzip data: unexpected end of file'));
  }
});

test('invalid gzip data gives nothing and an error', async () => {
  const { bytes, error } = await unpack(Buffer.concat([Buffer.from([0x1f, 0x8b]), deflateRawSync(TEXT)]));
  expect(bytes.length).toBe(0);
  expect(error).toBeInstanceOf(BodyError);
});

test('a gzip bomb is stopped at the limit of bytes, in little memory', async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  let length = 0;
  let most = 0;
  const before = process.memoryUsage().rss;
  const reading = async (): Promise<void> => {
    for await (const piece of unpacked(inPieces(bomb, 65_536), 100_000_000)) {
      length += piece.length;
      most = Math.max(most, process.memoryUsage().rss - before);
    }
  };
  await expect(reading()).rejects.toThrow('is longer than 100000000 bytes, unpacked');
  expect(length).toBeGreaterThan(90_000_000);
  expect(most).toBeLessThan(80_000_000);
});

test.each<[string, Buffer]>([
  ['of empty blocks', gzipOf(Array(8).fill(emptyBlocks(90_000)), new Uint8Array())],
  ['of empty members', Buffer.concat(Array(50_000).fill(gzipSync('')))],
  ['of empty blocks, packed again', gzipSync(gzipOf(Array(8).fill(emptyBlocks(90_000)), new Uint8Array()))],
])('gzip data %s with almost no content is given up early', async (_, packed) => {
  const { bytes, error } = await unpack(packed, { step: 65_536, maxBytes: 1e9 });
  expect(bytes.length).toBe(0);
  expect(error).toBeInstanceOf(BodyError);
  expect(String(error)).toMatch(/has gzip data with almost no content: 2\d{5} bytes of them gave 0$/);
});

test('the source is closed when its reader stops early', async () => {
  let isEnded = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield gzipSync(TEXT);
    } finally {
      isEnded = true;
    }
  }
  for await (const _ of unpacked(source(), 1_000_000)) break;
  expect(isEnded).toBe(true);
});
