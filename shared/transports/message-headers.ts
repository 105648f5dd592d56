import { MESSAGE_HEADERS, type MessageHeaders } from '../ports/transport.ts';
import { LAST_MOMENT_MS } from '../task/durations.ts';

/**
 * Returns only the headers that may be passed on: a copied `x-death`, for example, could make RabbitMQ 3.10 drop a message. Since
 * other programs write headers, too, accepts numbers given as text, and leaves out values that can't be a number or a time.
 */
export function allowedHeaders(headers: Readonly<Record<string, unknown>> | undefined): MessageHeaders {
  const allowed: Record<string, string | number> = {};
  for (const name of MESSAGE_HEADERS) {
    const value = name === 'x-last-error' ? textOf(headers?.[name]) : numberOf(headers?.[name]);
    if (value !== undefined) allowed[name] = value;
  }
  return allowed;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= LAST_MOMENT_MS ? number : undefined;
}
