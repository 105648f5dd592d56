import { crc32 } from 'node:zlib';

/** Writes bits, the lowest first, as deflate data have them (RFC 1951 section 3.1.1). */
class BitWriter {
  readonly #bytes: number[] = [];
  #bits = 0;
  #count = 0;

  write(value: number, bits: number): void {
    for (let bit = 0; bit < bits; bit++) {
      this.#bits |= ((value >> bit) & 1) << this.#count;
      if (++this.#count < 8) continue;
      this.#bytes.push(this.#bits);
      this.#bits = 0;
      this.#count = 0;
    }
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

/** The order of code length codes in a dynamic block (RFC 1951 section 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] as const;

/**
 * The empty deflate blocks that cost a decoder most: each has its own code tables. Four are 45 bytes, for which
 * zlib takes about 6 µs.
 */
export function emptyBlocks(count: number): Buffer {
  const bits = new BitWriter();
  for (let block = 0; block < Math.ceil(count / 4) * 4; block++) {
    bits.write(0b100, 3); // not the last; dynamic
    bits.write(0, 10); // 257 codes for literals, 1 for distances
    bits.write(ORDER.length - 4, 4);
    for (const symbol of ORDER) bits.write(symbol === 18 || symbol === 1 ? 1 : 0, 3);
    for (const zeros of [138, 118]) bits.write(1 | ((zeros - 11) << 1), 8);
    bits.write(0b000, 3); // the end of the block has a code, the distance has one, and here the block ends
  }
  return bits.bytes();
}

/** A stored block of at most 65 535 bytes. */
export function storedBlock(content: Uint8Array): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt16LE(content.length, 1);
  header.writeUInt16LE(~content.length & 0xffff, 3);
  return Buffer.concat([header, content]);
}

const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);

/** A gzip file of these blocks and a last one, with the trailer of this content. */
export function gzipOf(blocks: readonly Uint8Array[], content: Uint8Array): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(content), 0);
  trailer.writeUInt32LE(content.length, 4);
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), ...blocks, LAST_BLOCK, trailer]);
}
