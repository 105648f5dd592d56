import { TextDecoder } from 'node:util';
import { multiByte } from '../tools/libraries.ts';

/** A streaming decoder of text: `TextDecoder`, or a replacement with the same interface. */
export interface Decoder {
  /** The encoding, by its WHATWG name in lower case. */
  readonly encoding: string;
  decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

/**
 * Multi-byte encodings. Node.js decodes some of them differently from the Encoding standard, and so from browsers: its `euc-kr` lacks 8,822
 * syllables. Its decoder for `gb18030` also throws if a text that comes in pieces has a bad byte.
 */
const MULTI_BYTE: ReadonlySet<string> = new Set('big5 euc-jp euc-kr gb18030 gbk iso-2022-jp shift_jis'.split(' '));

/** Makes a new decoder, not shared with others. Throws a RangeError for a label that the Encoding standard doesn't know. */
export function newDecoder(label: string): Decoder {
  const decoder = new TextDecoder(label);
  return MULTI_BYTE.has(decoder.encoding) ? new MultiByteDecoder(decoder.encoding) : decoder;
}

class MultiByteDecoder implements Decoder {
  readonly encoding: string;
  readonly #decode: (bytes: Uint8Array, stream: boolean) => string;

  constructor(encoding: string) {
    this.encoding = encoding;
    this.#decode = multiByte().createMultibyteDecoder(encoding, true);
  }

  decode(bytes: Uint8Array = new Uint8Array(), { stream = false }: { readonly stream?: boolean } = {}): string {
    return this.#decode(bytes, stream);
  }
}
