import { BodyError } from './body-error.ts';
import { ByteSource } from './byte-source.ts';
import { gunzipped, isGzip } from './gunzipping.ts';

/** A gzip file sent with Content-Encoding gzip is packed twice, and some servers pack it once more. */
const MAX_LAYERS = 3;

/**
 * The bytes of a body without gzip, whatever its name or media type says: the bytes decide.
 *
 * @param maxBytes unpacked; a longer body ends with a {@link BodyError}, as does one whose gzip data are broken
 */
export async function* unpacked(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  layers = MAX_LAYERS,
): AsyncGenerator<Uint8Array, void, void> {
  const source = new ByteSource(body);
  const isPacked = layers > 0 && isGzip(await source.peek((bytes) => bytes.length >= 2));
  let left = maxBytes;
  for await (const bytes of isPacked ? unpacked(gunzipped(source), maxBytes, layers - 1) : source) {
    yield bytes.length > left ? bytes.subarray(0, left) : bytes;
    if (bytes.length > left) throw new BodyError(`is longer than ${maxBytes} bytes, unpacked`);
    left -= bytes.length;
  }
}
