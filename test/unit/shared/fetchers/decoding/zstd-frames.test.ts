import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ZstdFrames } from '../../../../../shared/fetchers/decoding/zstd-frames.ts';

const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag, ZSTD_c_windowLog, ZSTD_e_flush } = zlib.constants;

function frame(content: Uint8Array, params: Readonly<Record<number, number>> = {}): Buffer {
  return zlib.zstdCompressSync(content, { params: { ...params } });
}

/** A skippable frame: it has no content. */
function skippable(bytes: number): Buffer {
  const head = Buffer.from('5a2a4d1800000000', 'hex');
  head.writeUInt32LE(bytes, 4);
  return Buffer.concat([head, randomBytes(bytes)]);
}

/** A frame of many blocks. */
async function flushed(content: Uint8Array): Promise<Buffer> {
  const encoder = zlib.createZstdCompress();
  const coded = encoder.toArray();
  for (const byte of content) {
    encoder.write(Buffer.of(byte));
    await new Promise<void>((resolve) => encoder.flush(ZSTD_e_flush, () => resolve()));
  }
  encoder.end();
  return Buffer.concat(await coded);
}

const FRAMES: readonly Buffer[] = [
  frame(Buffer.from('')),
  frame(Buffer.from('short')),
  frame(Buffer.from('short'), { [ZSTD_c_checksumFlag]: 1 }),
  frame(Buffer.from('short'), { [ZSTD_c_contentSizeFlag]: 0 }),
  frame(randomBytes(300), { [ZSTD_c_windowLog]: 12 }),
  frame(randomBytes(140_000), { [ZSTD_c_checksumFlag]: 1 }),
  frame(Buffer.alloc(200_000)),
  frame(Buffer.from('again and again, '.repeat(5_000))),
  await flushed(Buffer.from('a little at a time')),
  skippable(0),
  skippable(20),
];

/** The pieces of a body that comes in chunks of these lengths, and a last one with the rest. */
function cut(body: Buffer, lengths: readonly number[]): Buffer[] {
  const frames = new ZstdFrames();
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const length of [...lengths, body.length]) {
    pieces.push(...frames.cut(body.subarray(at, at + length)));
    at += length;
  }
  return pieces.map((piece) => Buffer.from(piece));
}

test('a body is cut at each frame end, in chunks of any size, and bytes after the last frame are dropped', () => {
  const some = fc.array(fc.constantFrom(...FRAMES), { minLength: 1, maxLength: 6 });
  const lengths = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 30 });
  const rest = fc.constantFrom('', '\r\n', '<!-- cached -->', '(');
  fc.assert(
    fc.property(some, lengths, rest, (frames, cuts, after) => {
      const pieces = cut(Buffer.concat([...frames, Buffer.from(after)]), cuts);
      expect(Buffer.concat(pieces).equals(Buffer.concat(frames))).toBe(true);
      const ends = new Set<number>();
      pieces.reduce((at, { length }) => {
        ends.add(at + length);
        return at + length;
      }, 0);
      let end = 0;
      for (const { length } of frames) {
        end += length;
        expect(ends).toContain(end);
      }
    }),
  );
});

test('a body that does not begin with a frame is left as it is', () => {
  const body = Buffer.from('<html>no zstd at all</html>');
  expect(Buffer.concat(cut(body, [1, 2, 3])).toString()).toBe(body.toString());
});
