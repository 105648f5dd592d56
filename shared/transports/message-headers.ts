import { MESSAGE_HEADERS, type MessageHeaders } from '../ports/transport.ts';

/** Keeps only the headers that may be passed on: a copied `x-death`, say, could make RabbitMQ 3.10 drop a message. */
export function allowedHeaders(headers: Readonly<Record<string, unknown>> | undefined): MessageHeaders {
  const allowed: Record<string, string | number> = {};
  for (const name of MESSAGE_HEADERS) {
    const value = headers?.[name];
    if (typeof value === 'number' || typeof value === 'string') allowed[name] = value;
  }
  return allowed;
}
