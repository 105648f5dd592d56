import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { selfSigned } from '../../../support/site/certificate.ts';
import { problemsOf } from './reading.ts';

const URL = 'rediss://redis.example';

async function openFiles() {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = { format: 'pem', type: 'pkcs8' } as const;
  const made = {
    cert: selfSigned.cert,
    key: selfSigned.key,
    other: privateKey.export(pem),
    locked: privateKey.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'sesame' }),
    empty: '',
  };
  const paths = Object.fromEntries(Object.keys(made).map((name) => [name, join(folder, `${name}.pem`)]));
  for (const [name, text] of Object.entries(made)) await writeFile(paths[name] ?? '', text);
  return { ...(paths as Record<keyof typeof made, string>), missing: join(folder, 'missing.pem') };
}

test('unusable TLS files are wrong settings, each with its problem', async () => {
  const { cert, key, other, locked, empty, missing } = await openFiles();
  const tried = (files: Record<string, string>) =>
    problemsOf({ environment: { REDIS_URL: URL, ...files } }).map((each) => each.replaceAll(/\/\S*\//g, ''));
  expect(tried({ REDIS_CA_FILE: cert, REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key })).toEqual([]);
  expect(tried({ REDIS_CA_FILE: missing, REDIS_CERT_FILE: key, REDIS_KEY_FILE: cert })).toEqual([
    `expected REDIS_CA_FILE to be a file of certificates in PEM form (ENOENT: no such file or directory, open 'missing.pem'), got "missing.pem"`,
    'expected REDIS_CERT_FILE to be a file of certificates in PEM form (it has none), got "key.pem"',
    'expected REDIS_KEY_FILE to be a file with a private key in PEM form (it has none), got "cert.pem"',
  ]);
  expect(tried({ REDIS_CERT_FILE: cert, REDIS_KEY_FILE: locked })).toEqual([
    'expected REDIS_KEY_FILE to be a file with a private key in PEM form (it has a passphrase, which openssl pkey -in FILE -out FILE takes off), got "locked.pem"',
  ]);
  expect(tried({ REDIS_KEY_FILE: empty })).toEqual([
    'expected REDIS_KEY_FILE to be a file with a private key in PEM form (it has none), got "empty.pem"',
  ]);
  expect(tried({ REDIS_CERT_FILE: cert, REDIS_KEY_FILE: other })).toEqual([
    'expected REDIS_KEY_FILE to be the key of the first certificate in REDIS_CERT_FILE (it is the key of another certificate), got "other.pem"',
  ]);
  expect(tried({ REDIS_CERT_FILE: cert })).toEqual(['expected REDIS_KEY_FILE to be set because REDIS_CERT_FILE is']);
  expect(tried({ REDIS_KEY_FILE: key })).toEqual(['expected REDIS_CERT_FILE to be set because REDIS_KEY_FILE is']);
});

test('TLS files for a connection without TLS are reported, unless its address overrides them', async () => {
  const { cert, key } = await openFiles();
  const files = { RABBITMQ_CA_FILE: cert, REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key };
  const said = [
    'expected RABBITMQ_URL to begin with amqps:// because RABBITMQ_CA_FILE is set: without TLS, it would not be used',
    'expected REDIS_URL to begin with rediss:// because REDIS_CERT_FILE is set: without TLS, it would not be used',
  ];
  const plain = { RABBITMQ_URL: 'amqp://rabbitmq.example', REDIS_HOST: 'redis.example' };
  expect(problemsOf({ environment: files })).toEqual(said);
  expect(problemsOf({ environment: { ...files, ...plain } })).toEqual(said);
  expect(problemsOf({ environment: files, flag: plain })).toEqual([]);
  expect(problemsOf({ environment: { ...files, ...plain, CACHE_REDIS_URL: URL } })).toEqual(said.slice(0, 1));
});
