import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endingCertificates } from '../../../../shared/backends/tls-words.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { selfSigned } from '../../../support/site/certificate.ts';

test('a client certificate that expires soon is reported, with its last minute', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(cert, selfSigned.cert), writeFile(key, selfSigned.key)]);
  const environment = { REDIS_URL: 'rediss://redis.example', REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key };
  const settings = settingsFrom({ flag: {}, environment, file: {} });
  const said = ['the certificate in REDIS_CERT_FILE is valid until 2126-10-28 12:25: renew it'];
  expect(endingCertificates(settings, Date.parse('2126-10-14T12:00Z'))).toEqual([]);
  expect(endingCertificates(settings, Date.parse('2126-10-14T13:00Z'))).toEqual(said);
  expect(endingCertificates(settings, Date.parse('2127-01-01T00:00Z'))).toEqual(said);
  expect(endingCertificates(settingsFrom({ flag: {}, environment: {}, file: {} }), Date.now())).toEqual([]);
});
