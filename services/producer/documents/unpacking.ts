import { BodyError } from './body-error.ts';
import { ByteSource } from './byte-source.ts';
import { gunzipped, isGzip } from './gunzipping.ts';

/** Maximum layers of gzip. A gzip file sent with Content-Encoding gzip is packed twice, and some servers pack it once more. */
const MAX_LAYERS = 3;

/**
 * Yields the bytes of a body without its gzip layers. They are recognised by the bytes, whatever the name or media type says.
 *
 * @param maxBytes maximum unpacked bytes; a longer body ends with a {@link BodyError}, as does one with broken gzip data
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
