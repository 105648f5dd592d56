import type { DeadLetter, LetterOwner } from '../../ports/dead-letter.ts';
import type { DeadLetterMessage } from '../../ports/transport.ts';
import { shownMessage } from '../../task/task/message.ts';
import { shownRequest } from '../../task/task/request.ts';
import type { FoundLetter } from './letter-filter.ts';

/**
 * Returns a letter as JSON, without credentials. The body of a message that wasn't a task is in `raw`, or in `rawBase64`
 * if it isn't UTF-8.
 */
export function letterJson({ message, letter, reason }: FoundLetter): object {
  const { id = null, headers, body } = message;
  if (letter !== undefined) {
    const { owner } = letter;
    return { id, ...shown(letter), ...(owner === undefined ? {} : { owner: shown(owner) }) };
  }
  const raw = rawText(message);
  const kept = raw === undefined ? { rawBase64: Buffer.from(body).toString('base64') } : { raw };
  return { id, reason, error: headers['x-last-error'], ...kept };
}

function shown({ logins: _, cookies: __, request, ...others }: DeadLetter | LetterOwner): object {
  return { ...others, ...(request === undefined ? {} : { request: shownRequest(request) }) };
}

/** Returns a body as text, safe to show; undefined if it isn't UTF-8. */
export function rawText({ body }: DeadLetterMessage): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return shownMessage(text);
  } catch {
    return undefined;
  }
}
