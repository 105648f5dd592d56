import { expect, test } from 'vitest';
import { isNameServer } from '../../../../../shared/task/host/name-server.ts';

test.each(['192.0.2.53', '192.0.2.53:5353', '2001:db8::53', '[2001:db8::53]', '[2001:db8::53]:53', '127.0.0.1:65535'])(
  '%s is a name server',
  (text) => expect(isNameServer(text)).toBe(true),
);

test.each([
  'dns.example.com',
  '192.0.2',
  '192.0.2.53:',
  '192.0.2.53:0',
  '192.0.2.53:65536',
  '[192.0.2.53]:53',
  '',
  ':53',
])('"%s" is not a name server', (text) => expect(isNameServer(text)).toBe(false));
