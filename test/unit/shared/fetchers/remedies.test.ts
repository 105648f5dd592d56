import { expect, test } from 'vitest';
import { PrivateAddressError } from '../../../../shared/fetchers/address-guard.ts';
import { withRemedy } from '../../../../shared/fetchers/trust.ts';
import { FetchError } from '../../../../shared/ports/fetcher.ts';

const HOST = '$(id).a.test';

test('a flag that an error suggests has its host quoted for the shell', () => {
  const refused = new PrivateAddressError('127.0.0.1', HOST);
  expect(refused.message).toMatch(/ \(--private-hosts '\$\(id\)\.a\.test' allows it\)$/);
  const untrusted = withRemedy(Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' }), HOST);
  expect(untrusted.message).toBe("expired (--insecure '$(id).a.test' leaves it unchecked)");
});

test('a long list of names in an error is cut, but the suggested flag is kept', () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `DNS:h${n}.a.test`).join(', ');
  const wrong = Object.assign(new Error(`Host: b.test. is not in the cert's altnames: ${names}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
  expect(withRemedy(wrong, 'b.test').message).toMatch(
    /DNS:h0\.a\.test, .{100,300}… \(--insecure b\.test leaves it unchecked\)$/,
  );
  expect(new FetchError('content_type', `The answer is ${'x'.repeat(60_000)}`).message).toMatch(
    /^The answer is x{986}…$/,
  );
});
