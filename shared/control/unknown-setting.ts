import type { UnknownName } from '../settings/settings.ts';

/** A name in `.env` that nothing reads, and what was probably meant. */
export function unknownText({ name, nearest }: UnknownName): string {
  return `.env: ${name} is no setting${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
