/** Covers what is on its way through a decoder, and a short body that was flushed after every byte. */
const FREE_BYTES = 262_144;

/**
 * Has a decoder taken far more coded bytes than it has yielded content? Compressed data are rarely longer than their
 * content, and then by little. Data with almost no content, empty deflate blocks for example, are an attack on the
 * reader: compressed a second time, gigabytes of them fit into a hundred bytes, and no cap on the content ends them.
 */
export function exceedsAllowance(codedBytes: number, contentBytes: number): boolean {
  return codedBytes > 2 * contentBytes + FREE_BYTES;
}
