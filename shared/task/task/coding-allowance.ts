/** Covers data inside a decoder, and a short body that was flushed after every byte. */
const FREE_BYTES = 262_144;

/**
 * Has a decoder taken far more coded bytes than it has yielded content? Compressed data are rarely longer than their content,
 * and then only a little. Data with almost no content, such as empty deflate blocks, are an attack: compressed a second time,
 * gigabytes of them fit into a hundred bytes, and a cap on the content never stops them.
 */
export function exceedsAllowance(codedBytes: number, contentBytes: number): boolean {
  return codedBytes > 2 * contentBytes + FREE_BYTES;
}
