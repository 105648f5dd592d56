/** A body that can't be read to its end. The message is the end of a sentence that begins with its name. The part read before stays valid. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly code = 'ERR_BODY';
}
