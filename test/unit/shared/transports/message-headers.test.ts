import { expect, test } from 'vitest';
import { readLetter } from '../../../../shared/control/letters/letter-filter.ts';
import { allowedHeaders } from '../../../../shared/transports/message-headers.ts';

const NOW = 1_795_000_000_000;

// biome-ignore format: a table
test.each<[string, Record<string, unknown>, object]>([
  ['numbers',                   { 'x-attempt': 2, 'x-first-seen': NOW },                          { 'x-attempt': 2, 'x-first-seen': NOW }],
  ['numbers as text',           { 'x-release': '7', 'x-first-seen': String(NOW) },                { 'x-release': 7, 'x-first-seen': NOW }],
  ['a moment in nanoseconds',   { 'x-first-seen': NOW * 1e6, 'x-deadline': '1e300' },             {}],
  ['what is no number',         { 'x-release': 'seven', 'x-attempt': '', 'x-deadline': [1] },     {}],
  ['an error that is no text',  { 'x-last-error': 5 },                                            {}],
  ['headers of other programs', { 'x-death': [], 'content-type': 'text/plain', 'x-last-error': 'e' }, { 'x-last-error': 'e' }],
])('of %s, what is passed on', (_, headers, allowed) => {
  expect(allowedHeaders(headers)).toEqual(allowed);
});

test('a letter that another program has dated in nanoseconds is read', () => {
  const headers = allowedHeaders({ 'x-release': 7, 'x-first-seen': NOW * 1e6 });
  const body = Buffer.from(JSON.stringify({ v: 1, run: 'r', url: 'https://a.test/1', step: '', queue: 'normal' }));
  const moved = { from: 'url_queue_ttl', why: 'expired', at: NOW };
  expect(readLetter({ id: 'x', body, headers, moved }).letter?.firstSeen).toBe('2026-11-18T11:06:40.000Z');
});
