import { ClientTls, lifetimeOf, type TlsFiles } from '../runtime/client-tls.ts';
import type { Settings } from '../settings/table.ts';
import { rabbitMqTlsFiles, redisTlsFiles } from '../settings/tls-files.ts';
import { DAY_MS } from '../task/durations.ts';

/** Time before a certificate's end at which to warn: long enough to get a new one. */
const SOON_MS = 14 * DAY_MS;

/** The names of a service's TLS settings, for messages that say what to mend. */
export interface TlsWords {
  /** The setting that contains its address. */
  readonly address: string;
  /** The beginning of an address without TLS, and with it. */
  readonly schemes: readonly [plain: string, tls: string];
  /** The setting for its issuers, with a sample value, and whether it is set. */
  readonly ca: string;
  readonly hasCa: boolean;
  /** The settings for the client's certificate and its key, and the certificate's file if it is set. */
  readonly cert: string;
  readonly key: string;
  readonly certFile: string | undefined;
}

export function rabbitMqTls(settings: Settings): { readonly tls: ClientTls; readonly words: TlsWords } {
  return tlsOf('RABBITMQ', ['amqp://', 'amqps://'], rabbitMqTlsFiles(settings));
}

export function redisTls(settings: Settings): { readonly tls: ClientTls; readonly words: TlsWords } {
  return tlsOf('REDIS', ['redis://', 'rediss://'], redisTlsFiles(settings));
}

/** Returns the words for Postgres, whose TLS settings are all in its URL. Its client reads the files. */
export function postgresTlsWords(url: string): TlsWords {
  const { searchParams } = new URL(url);
  return {
    ...{ address: 'SINK', schemes: ['no sslmode', 'sslmode=verify-full'] },
    ...{ ca: 'sslrootcert=ca.pem in SINK', hasCa: searchParams.has('sslrootcert') },
    ...{ cert: 'sslcert in SINK', key: 'sslkey', certFile: searchParams.get('sslcert') ?? undefined },
  };
}

/** Returns a warning for each client certificate that has expired or is in its last quarter, at most 14 days before its end. */
export function endingCertificates(settings: Settings, now: number): string[] {
  const files = { RABBITMQ_CERT_FILE: rabbitMqTlsFiles(settings).cert, REDIS_CERT_FILE: redisTlsFiles(settings).cert };
  return Object.entries(files).flatMap(([name, cert]) => {
    if (cert === undefined) return [];
    const { from, until } = lifetimeOf(cert);
    if (until - now > Math.min(SOON_MS, (until - from) / 4)) return [];
    return [`the certificate in ${name} is valid until ${minuteOf(until)}: renew it`];
  });
}

/** Formats a time for people, in UTC. */
export function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

function tlsOf(server: string, schemes: TlsWords['schemes'], files: TlsFiles): ReturnType<typeof redisTls> {
  const words = {
    ...{ address: `${server}_URL`, schemes, ca: `${server}_CA_FILE=ca.pem`, hasCa: files.ca !== undefined },
    ...{ cert: `${server}_CERT_FILE`, key: `${server}_KEY_FILE`, certFile: files.cert },
  };
  return { tls: new ClientTls(files), words };
}
