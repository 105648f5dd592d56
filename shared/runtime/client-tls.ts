import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { codeOf, messageOf } from './errors.ts';

/** Files in PEM form, by their paths. */
export interface TlsFiles {
  /** The issuers that a server's certificate may have, and no others. Left out: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** A client's certificate, first, and those of its issuers. */
  readonly cert?: string | undefined;
  /** The key of that certificate. */
  readonly key?: string | undefined;
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a file, as each one's PEM. Throws what is wrong with it. */
export function certificatesIn(path: string): readonly string[] {
  const found = readFileSync(path, 'utf8').match(PEM) ?? [];
  for (const pem of found) new X509Certificate(pem);
  if (found.length === 0) throw new Error('it has none');
  return found;
}

/** The private key in a file, as PEM. Throws what is wrong with it. */
export function privateKeyIn(path: string): string {
  const pem = readFileSync(path, 'utf8');
  try {
    createPrivateKey(pem);
  } catch (error: unknown) {
    const isLocked = codeOf(error) === 'ERR_MISSING_PASSPHRASE' || pem.includes('ENCRYPTED');
    const reason = isLocked ? 'it has a passphrase, which openssl pkey -in FILE -out FILE takes off' : 'it has none';
    throw new Error(reason, { cause: error });
  }
  return pem;
}

/** Why a certificate can't be used with a key, if it can't. Both can be read. */
export function pairProblem(cert: string, key: string): string | undefined {
  const [own = ''] = certificatesIn(cert);
  const pem = privateKeyIn(key);
  if (!new X509Certificate(own).checkPrivateKey(createPrivateKey(pem))) return 'it is the key of another certificate';
  try {
    createSecureContext({ cert: own, key: pem });
    return undefined;
  } catch (error: unknown) {
    return messageOf(error);
  }
}

/** From when and until when the first certificate in a file is valid, in milliseconds since 1970. */
export function lifetimeOf(cert: string): { readonly from: number; readonly until: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificatesIn(cert)[0] ?? '');
  return { from: validFromDate.getTime(), until: validToDate.getTime() };
}

/**
 * What a client speaks TLS with. Certificates that live for a day are replaced where they lie: {@link ClientTls.renew} is for before
 * each connection.
 */
export class ClientTls {
  /** For `tls.connect`. Its lists stay the same, and change: clients of servers copy what they are given once, and not as deep. */
  readonly options: { readonly ca?: string[]; readonly cert?: string[]; readonly key?: string[] };
  readonly files: TlsFiles;

  constructor(files: TlsFiles) {
    this.files = files;
    this.options = read(files);
  }

  /** Reads the files again. What can't be read just now, or doesn't fit together, stays what it was. */
  renew(): void {
    const { cert, key } = this.files;
    try {
      if (cert !== undefined && key !== undefined && pairProblem(cert, key) !== undefined) return;
      for (const [name, list] of Object.entries(read(this.files)))
        this.options[name as keyof TlsFiles]?.splice(0, Number.POSITIVE_INFINITY, ...list);
    } catch {
      // Somebody is writing them.
    }
  }
}

function read({ ca, cert, key }: TlsFiles): ClientTls['options'] {
  return {
    ...(ca === undefined ? {} : { ca: [...certificatesIn(ca)] }),
    ...(cert === undefined ? {} : { cert: [certificatesIn(cert).join('\n')] }),
    ...(key === undefined ? {} : { key: [privateKeyIn(key)] }),
  };
}
