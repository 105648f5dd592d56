import { setting } from './setting.ts';
import { certificatePath, keyPath } from './trust-parsers.ts';

/** Certificates and keys for TLS with RabbitMQ and Redis. Their URLs decide whether TLS is used. */
export const TLS_SETTINGS = {
  rabbitmqCaFile: setting(
    'fleet',
    'RABBITMQ_CA_FILE',
    certificatePath(),
    '',
    'RabbitMQ over TLS: file of certificates (PEM) to trust as its issuers, and no others.',
  ),
  rabbitmqCertFile: setting(
    'fleet',
    'RABBITMQ_CERT_FILE',
    certificatePath(),
    '',
    'RabbitMQ over TLS: file with our client certificate (PEM), if the server asks for one.',
  ),
  rabbitmqKeyFile: setting(
    'fleet',
    'RABBITMQ_KEY_FILE',
    keyPath(),
    '',
    'RabbitMQ over TLS: file with the key of that certificate (PEM, without a passphrase).',
  ),
  redisCaFile: setting(
    'fleet',
    'REDIS_CA_FILE',
    certificatePath(),
    '',
    'Redis over TLS: file of certificates (PEM) to trust as its issuers, and no others.',
  ),
  redisCertFile: setting(
    'fleet',
    'REDIS_CERT_FILE',
    certificatePath(),
    '',
    'Redis over TLS: file with our client certificate (PEM), if the server asks for one.',
  ),
  redisKeyFile: setting(
    'fleet',
    'REDIS_KEY_FILE',
    keyPath(),
    '',
    'Redis over TLS: file with the key of that certificate (PEM, without a passphrase).',
  ),
} as const;
