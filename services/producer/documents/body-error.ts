/**
 * A body that can't be read to its end, as the end of a sentence that begins with its name. What was read before stays valid.
 */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly code = 'ERR_BODY';
}
