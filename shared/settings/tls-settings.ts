import { setting } from './setting.ts';
import { certificatePath, keyPath } from './trust-parsers.ts';

/** What TLS with RabbitMQ and Redis is spoken with, besides what their URLs say. */
export const TLS_SETTINGS = {
  rabbitmqCaFile: setting(
    'fleet',
    'RABBITMQ_CA_FILE',
    certificatePath(),
    '',
    'RabbitMQ over TLS: a file of certificates (PEM) whose issuers its own may have, and no others.',
  ),
  rabbitmqCertFile: setting(
    'fleet',
    'RABBITMQ_CERT_FILE',
    certificatePath(),
    '',
    'RabbitMQ over TLS: a file with our client certificate (PEM), if it wants one.',
  ),
  rabbitmqKeyFile: setting(
    'fleet',
    'RABBITMQ_KEY_FILE',
    keyPath(),
    '',
    'RabbitMQ over TLS: a file with the key of that certificate (PEM, without a passphrase).',
  ),
  redisCaFile: setting(
    'fleet',
    'REDIS_CA_FILE',
    certificatePath(),
    '',
    'Redis over TLS: a file of certificates (PEM) whose issuers its own may have, and no others.',
  ),
  redisCertFile: setting(
    'fleet',
    'REDIS_CERT_FILE',
    certificatePath(),
    '',
    'Redis over TLS: a file with our client certificate (PEM), if it wants one.',
  ),
  redisKeyFile: setting(
    'fleet',
    'REDIS_KEY_FILE',
    keyPath(),
    '',
    'Redis over TLS: a file with the key of that certificate (PEM, without a passphrase).',
  ),
} as const;
