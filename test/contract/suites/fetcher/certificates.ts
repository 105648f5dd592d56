import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OldTlsServer } from '../../../support/listeners/old-tls-server.ts';
import { selfSigned } from '../../../support/site/certificate.ts';
import type { Setup } from './setup.ts';

/** The DHE suites for RSA certificates that Node.js offers by default. */
const DHE: ReadonlySet<number> = new Set([0x67, 0x6b, 0x9e, 0x9f, 0xccaa, 0xc09e, 0xc09f]);

/** Which certificates are accepted. The test site's is self-signed and valid for 127.0.0.1 and localhost. */
export function describeCertificates(setup: Setup): void {
  describe('certificates', () => {
    test('a self-signed certificate is refused, and the error names the flags that would accept it', async () => {
      const { fetch, site } = await setup({ site: { tls: true } });
      await expect(fetch('/page/1')).rejects.toMatchObject({
        reason: 'tls',
        message: 'self-signed certificate (--ca-file FILE adds its issuer, --insecure 127.0.0.1 leaves it unchecked)',
      });
      expect(site.requests).toEqual([]);
    });

    test('a certificate of a given authority is accepted, but not for other names', async () => {
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

    test.each(['TLSv1.2', 'TLSv1.3'] as const)(
      'a server that demands a certificate of its clients fails with reason tls: %s',
      async (version) => {
        const { fetcher } = await setup({ trust: { authorities: [], unchecked: ['127.0.0.1'] } });
        const server = createServer({ ...selfSigned, requestCert: true, minVersion: version, maxVersion: version });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        onTestFinished(() => void server.close());
        const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({
          reason: 'tls',
          message: expect.stringMatching(/^TLS failed: .* alert (handshake failure|certificate required)$/),
        });
      },
    );

    test('a TLS handshake names the host without its trailing dot', async () => {
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

    test.each([[[]], [[selfSigned.cert]]])(
      'as in browsers, a server may lack secure renegotiation and is offered no DHE',
      async (authorities) => {
        const { fetcher } = await setup({ trust: { authorities, unchecked: [] } });
        const old = new OldTlsServer();
        await old.start();
        onTestFinished(() => old.stop());
        await expect(fetcher.fetch({ url: old.url, maxBodyBytes: 1_000 })).rejects.toMatchObject({
          reason: 'tls',
          message: 'TLS failed: tlsv1 alert internal error',
          cause: { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' },
        });
        const [offered = []] = old.offers;
        expect(offered).toContain(0xc02f);
        expect(offered.filter((suite) => DHE.has(suite))).toEqual([]);
      },
    );

    test('an unchecked host can have any certificate, and no other host can', async () => {
      const trust = { authorities: [], unchecked: ['127.0.0.1'] };
      const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
      const { fetch, fetcher, site } = await setup({ site: { tls: true }, trust, resolve });
      expect(await fetch('/page/1')).toMatchObject({ status: 200 });
      const url = site.url('/page/1').replace('127.0.0.1', 'localhost');
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000_000 })).rejects.toMatchObject({ reason: 'tls' });
    });
  });
}
