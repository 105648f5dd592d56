import { pairProblem, type TlsFiles } from '../runtime/client-tls.ts';
import type { Settings } from './table.ts';

/** Returns the TLS files for RabbitMQ. */
export function rabbitMqTlsFiles(settings: Settings): TlsFiles {
  return { ca: settings.rabbitmqCaFile, cert: settings.rabbitmqCertFile, key: settings.rabbitmqKeyFile };
}

/** Returns the TLS files for Redis, including that of the response cache. */
export function redisTlsFiles(settings: Settings): TlsFiles {
  return { ca: settings.redisCaFile, cert: settings.redisCertFile, key: settings.redisKeyFile };
}

/** Finds certificates and keys that are set without each other, or don't belong together. */
export function tlsProblems(settings: Settings): string[] {
  return [...misfits('RABBITMQ', rabbitMqTlsFiles(settings)), ...misfits('REDIS', redisTlsFiles(settings))];
}

/**
 * Finds TLS files that are set for a connection without TLS, where they would silently not be used.
 *
 * @param isNewer was `address` given in a place that overrides that of `file`?
 */
export function plainProblems(settings: Settings, isNewer: (file: string, address: string) => boolean): string[] {
  const { rabbitmqUrl, redisUrl, cacheRedisUrl } = settings;
  return [
    ...unused('RABBITMQ', 'amqps://', rabbitMqTlsFiles(settings), [rabbitmqUrl], isNewer),
    ...unused('REDIS', 'rediss://', redisTlsFiles(settings), [redisUrl, cacheRedisUrl], isNewer),
  ];
}

function misfits(server: string, { cert, key }: TlsFiles): string[] {
  const [certName, keyName] = [`${server}_CERT_FILE`, `${server}_KEY_FILE`];
  if (cert === undefined && key === undefined) return [];
  if (key === undefined) return [`expected ${keyName} to be set because ${certName} is`];
  if (cert === undefined) return [`expected ${certName} to be set because ${keyName} is`];
  const problem = pairProblem(cert, key);
  return problem === undefined
    ? []
    : [
        `expected ${keyName} to be the key of the first certificate in ${certName} (${problem}), got ${JSON.stringify(key)}`,
      ];
}

function unused(
  server: string,
  scheme: string,
  { ca, cert }: TlsFiles,
  [url, ...others]: readonly (string | undefined)[],
  isNewer: (file: string, address: string) => boolean,
): string[] {
  if ((ca ?? cert) === undefined || [url, ...others].some((each) => each?.startsWith(scheme))) return [];
  const file = `${server}_${ca === undefined ? 'CERT' : 'CA'}_FILE`;
  if (isNewer(file, `${server}_${url === undefined ? 'HOST' : 'URL'}`)) return [];
  return [`expected ${server}_URL to begin with ${scheme} because ${file} is set: without TLS, it would not be used`];
}
