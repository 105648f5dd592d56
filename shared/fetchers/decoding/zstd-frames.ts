const FRAME_MAGIC = 0xfd2fb528;
/** The magic number without its last four bits, which can be any. */
const SKIPPABLE_MAGIC = 0x184d2a5;
/** Bytes of each field that gives the length of what follows (RFC 8878 section 3.1). */
const FIELD_BYTES = { magic: 4, skippable: 4, descriptor: 1, block: 3 } as const;
/** Bytes of a frame's content size, by its flag. The next table has those of the dictionary's id. */
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CHECKSUM_BYTES = 4;
/** The type of a block that repeats a single byte. */
const REPEATED = 1;

/**
 * Finds the ends of the frames in a `zstd` body, which can have several (RFC 8878 section 3). The decoder of Node.js mistakes the end of a
 * frame for the end of the body if more bytes come in the same chunk, but continues if they come in a later one.
 */
export class ZstdFrames {
  #field: keyof typeof FIELD_BYTES = 'magic';
  readonly #bytes: number[] = [];
  /** Bytes up to the next field, or to the end of the frame. */
  #skip = 0;
  #isLast = false;
  #hasChecksum = false;
  /** Number of frames that have ended. */
  #ended = 0;
  /** Whether the next bytes are not a frame. */
  #isForeign = false;

  /**
   * Cuts a chunk of the body at the ends of frames. Bytes that are not a frame are dropped behind one, as in browsers, and otherwise left
   * to the decoder.
   */
  *cut(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let at = 0; at < chunk.length && !this.#isForeign; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#bytes.push(chunk[at] ?? 0);
        at += 1;
        if (this.#bytes.length < FIELD_BYTES[this.#field]) continue;
        const isNext = this.#field === 'magic' && this.#ended > 0;
        const bytes = Uint8Array.from(this.#bytes.splice(0));
        this.#read(bytes);
        if (isNext) start = at;
        if (isNext && !this.#isForeign) yield bytes;
      }
      if (this.#skip > 0 || !this.#isLast) continue;
      yield chunk.subarray(start, at);
      start = at;
      this.#ended += 1;
      this.#isLast = false;
      this.#field = 'magic';
    }
    // The beginning of a possible next frame is held back until it is known to be one.
    const isHeld = this.#ended > 0 && (this.#isForeign || this.#field === 'magic');
    if (start < chunk.length && !isHeld) yield chunk.subarray(start);
  }

  #read(bytes: Uint8Array): void {
    const [first = 0, second = 0, third = 0] = bytes;
    switch (this.#field) {
      case 'magic':
        if (isSkippable(bytes)) this.#field = 'skippable';
        else if (isFrame(bytes)) this.#field = 'descriptor';
        else this.#isForeign = true;
        return;
      case 'skippable':
        this.#isLast = true;
        this.#skip = uint32(bytes);
        return;
      case 'descriptor': {
        const isSingle = (first & 0x20) !== 0;
        const sizeFlag = first >> 6;
        const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
        this.#hasChecksum = (first & 0x04) !== 0;
        this.#skip = (isSingle ? 0 : 1) + (DICTIONARY_ID_BYTES[first & 0x03] ?? 0) + sizeBytes;
        this.#field = 'block';
        return;
      }
      case 'block': {
        const header = first | (second << 8) | (third << 16);
        this.#isLast = (header & 1) !== 0;
        this.#skip = ((header >> 1) & 0x03) === REPEATED ? 1 : header >> 3;
        if (this.#isLast && this.#hasChecksum) this.#skip += CHECKSUM_BYTES;
      }
    }
  }
}

/** Returns whether these bytes begin a frame. */
export function beginsFrame(bytes: Uint8Array): boolean {
  return isFrame(bytes) || isSkippable(bytes);
}

function isFrame(bytes: Uint8Array): boolean {
  return uint32(bytes) === FRAME_MAGIC;
}

/** Returns whether these bytes begin a frame whose data don't count as content. */
function isSkippable(bytes: Uint8Array): boolean {
  return uint32(bytes) >>> 4 === SKIPPABLE_MAGIC;
}

function uint32(bytes: Uint8Array): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
  return (first | (second << 8) | (third << 16) | (fourth << 24)) >>> 0;
}
