import { describe, expect, test } from 'vitest';
import { selfSigned } from '../../../support/site/certificate.ts';
import type { Setup } from './setup.ts';

/** Which certificates are taken for good. The test site's is for 127.0.0.1 and localhost, and nobody vouches for it. */
export function describeCertificates(setup: Setup): void {
  describe('certificates', () => {
    test('one that nobody vouches for is refused, and the error names what would let it pass', async () => {
      const { fetch, site } = await setup({ site: { tls: true } });
      await expect(fetch('/page/1')).rejects.toMatchObject({
        reason: 'tls',
        message: 'self-signed certificate (--ca-file FILE adds its issuer, --insecure 127.0.0.1 leaves it unchecked)',
      });
      expect(site.requests).toEqual([]);
    });

    test('with its issuer among the authorities it is good, but not for other names', async () => {
      const trust = { authorities: [selfSigned.cert], unchecked: [] };
      const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
      const { fetch, fetcher, site } = await setup({ site: { tls: true }, trust, resolve });
      expect(await fetch('/page/1')).toMatchObject({ status: 200 });
      const url = site.url('/page/1').replace('127.0.0.1', 'other.test');
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000_000 })).rejects.toMatchObject({
        reason: 'tls',
        message: expect.stringMatching(/ \(--insecure other\.test leaves it unchecked\)$/),
      });
    });

    test('a handshake names the host without a dot at its end', async () => {
      const trust = { authorities: [selfSigned.cert], unchecked: [] };
      const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
      const { fetcher, site } = await setup({ site: { tls: true }, trust, resolve });
      const names: unknown[] = [];
      site.on('/name', ({ socket, headers }, response) => {
        names.push('servername' in socket && socket.servername, headers.host);
        response.end();
      });
      const url = site.url('/name').replace('127.0.0.1', 'localhost.');
      await fetcher.fetch({ url, maxBodyBytes: 1_000_000 });
      expect(names).toEqual(['localhost', new URL(url).host]);
    });

    test('a host that is not checked may have any, and no other host may', async () => {
      const trust = { authorities: [], unchecked: ['127.0.0.1'] };
      const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
      const { fetch, fetcher, site } = await setup({ site: { tls: true }, trust, resolve });
      expect(await fetch('/page/1')).toMatchObject({ status: 200 });
      const url = site.url('/page/1').replace('127.0.0.1', 'localhost');
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000_000 })).rejects.toMatchObject({ reason: 'tls' });
    });
  });
}
