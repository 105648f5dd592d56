import { ClientTls, lifetimeOf, type TlsFiles } from '../runtime/client-tls.ts';
import type { Settings } from '../settings/table.ts';
import { rabbitMqTlsFiles, redisTlsFiles } from '../settings/tls-files.ts';
import { DAY_MS } from '../task/durations.ts';

/** Long enough to have another one made. */
const SOON_MS = 14 * DAY_MS;

/** How TLS with a service is set, for the sentences that name what to mend. */
export interface TlsWords {
  /** Where its address is. */
  readonly address: string;
  /** How an address begins that is without TLS, and with it. */
  readonly schemes: readonly [plain: string, tls: string];
  /** What names its issuers, as it is written, and whether it is set. */
  readonly ca: string;
  readonly hasCa: boolean;
  /** What names the client's certificate, and its key, and the file of the former if it is set. */
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

/** Postgres has all in its URL, and its client reads the files. */
export function postgresTlsWords(url: string): TlsWords {
  const { searchParams } = new URL(url);
  return {
    ...{ address: 'SINK', schemes: ['no sslmode', 'sslmode=verify-full'] },
    ...{ ca: 'sslrootcert=ca.pem in SINK', hasCa: searchParams.has('sslrootcert') },
    ...{ cert: 'sslcert in SINK', key: 'sslkey', certFile: searchParams.get('sslcert') ?? undefined },
  };
}

/** Which client certificates are soon out of date, or already: in their last quarter, and in 14 days at most. */
export function endingCertificates(settings: Settings, now: number): string[] {
  const files = { RABBITMQ_CERT_FILE: rabbitMqTlsFiles(settings).cert, REDIS_CERT_FILE: redisTlsFiles(settings).cert };
  return Object.entries(files).flatMap(([name, cert]) => {
    if (cert === undefined) return [];
    const { from, until } = lifetimeOf(cert);
    if (until - now > Math.min(SOON_MS, (until - from) / 4)) return [];
    return [`the certificate in ${name} is valid until ${minuteOf(until)}: renew it`];
  });
}

/** A moment for people, in UTC. */
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
