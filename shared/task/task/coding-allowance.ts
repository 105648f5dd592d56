/** Coded bytes allowed beyond the ratio. Covers data inside a decoder, and a short body that was flushed after every byte. */
const FREE_BYTES = 262_144;

/**
 * Has a decoder taken far more coded bytes than it has yielded content? Compressed data is rarely longer than its content,
 * and then only a little. Data with almost no content, such as empty deflate blocks, is an attack: compressed a second time,
 * gigabytes of it fit into a hundred bytes, and a cap on the content never stops it.
 */
export function exceedsAllowance(codedBytes: number, contentBytes: number): boolean {
  return codedBytes > 2 * contentBytes + FREE_BYTES;
}
