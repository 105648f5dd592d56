import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { certificateOf, makeCertificates } from '../../../bench/tls/certificates.ts';
import { selfSigned } from '../site/certificate.ts';
import { needPrograms } from './ladder.ts';
import { freePort } from './machine.ts';
import { RabbitMqServer } from './rabbitmq-server.ts';
import { RedisServer } from './redis-server.ts';

/** The common name in the certificate of clients. */
export const CLIENT_NAME = 'Hosts of the bench';

/** A RabbitMQ and a Redis at 127.0.0.1, the name in their certificates. Their TLS ports require client certificates; each also has a plain port. */
export interface TlsServers {
  readonly rabbitmq: RabbitMqServer;
  readonly redis: RedisServer;
  readonly rabbitmqUrl: string;
  readonly redisUrl: string;
  /** The files of an issuer that servers and clients trust, and of a client's certificate and key. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  /** A certificate that the servers don't trust, and its key. */
  readonly stranger: { readonly cert: string; readonly key: string };
}

/** Starts both servers for one file of tests. */
export function tlsServers(): () => TlsServers {
  let servers: TlsServers | undefined;
  let folder: string | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trawl-tls-'));
    servers = await open(folder);
    await Promise.all([servers.rabbitmq.start(), servers.redis.start()]);
  });
  afterAll(async () => {
    await Promise.all([servers?.rabbitmq.remove(), servers?.redis.stop()]);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  return () => {
    if (servers === undefined) throw new Error('the servers have not started');
    return servers;
  };
}

async function open(folder: string): Promise<TlsServers> {
  const programs = needPrograms();
  const made = await makeCertificates(folder, ['127.0.0.1']);
  const ca = join(made, 'authority.pem');
  const [cert, key] = [join(made, certificateOf(0)), join(made, 'key.pem')];
  const stranger = { cert: join(folder, 'stranger.pem'), key: join(folder, 'stranger-key.pem') };
  await Promise.all([writeFile(stranger.cert, selfSigned.cert), writeFile(stranger.key, selfSigned.key)]);
  const mine = join(folder, 'client');
  await mkdir(mine);
  const files = { ca, cert: join(mine, 'cert.pem'), key: join(mine, 'key.pem') };
  await Promise.all([copyFile(cert, files.cert), copyFile(key, files.key)]);
  const [amqpPort, distPort, epmdPort, amqpsPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const rabbitmq = new RabbitMqServer({
    program: programs.rabbitmq,
    folder: join(folder, 'rabbitmq'),
    ...{ amqpPort, distPort, epmdPort },
    conf: [
      `listeners.ssl.1 = 127.0.0.1:${amqpsPort}`,
      ...[`cacertfile = ${ca}`, `certfile = ${cert}`, `keyfile = ${key}`].map((line) => `ssl_options.${line}`),
      ...['ssl_options.verify = verify_peer', 'ssl_options.fail_if_no_peer_cert = true'],
      ...['auth_mechanisms.1 = PLAIN', 'auth_mechanisms.2 = EXTERNAL', 'ssl_cert_login_from = common_name'],
    ],
    plugins: ['rabbitmq_auth_mechanism_ssl'],
  });
  const [port, tlsPort] = await Promise.all([freePort(), freePort()]);
  const tls = ['--tls-ca-cert-file', ca, '--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'yes'];
  const redis = new RedisServer({
    program: programs.redis,
    folder: join(folder, 'redis'),
    port,
    settings: ['--tls-port', String(tlsPort), ...tls],
  });
  const [rabbitmqUrl, redisUrl] = [`amqps://guest:guest@127.0.0.1:${amqpsPort}`, `rediss://127.0.0.1:${tlsPort}`];
  return { rabbitmq, redis, rabbitmqUrl, redisUrl, files, stranger };
}
