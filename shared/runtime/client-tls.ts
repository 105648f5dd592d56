import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { codeOf, messageOf } from './errors.ts';

/** Paths of files in PEM form. */
export interface TlsFiles {
  /** The only accepted issuers of a server's certificate. Defaults to the ones that Node.js trusts. */
  readonly ca?: string | undefined;
  /** The client's certificate, followed by those of its issuers. */
  readonly cert?: string | undefined;
  /** The private key of that certificate. */
  readonly key?: string | undefined;
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates in a file, each as PEM. Throws an error that says what is wrong with the file. */
export function certificatesIn(path: string): readonly string[] {
  const found = readFileSync(path, 'utf8').match(PEM) ?? [];
  for (const pem of found) new X509Certificate(pem);
  if (found.length === 0) throw new Error('it has none');
  return found;
}

/** Returns the private key in a file, as PEM. Throws an error that says what is wrong with the file. */
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

/** Returns why a certificate can't be used with a key, if it can't. Both files must be readable. */
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

/** Returns from when and until when the first certificate in a file is valid, in epoch milliseconds. */
export function lifetimeOf(cert: string): { readonly from: number; readonly until: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificatesIn(cert)[0] ?? '');
  return { from: validFromDate.getTime(), until: validToDate.getTime() };
}

/**
 * The certificates and the key a client uses for TLS. Short-lived certificates are replaced in place, so call
 * {@link ClientTls.renew} before each connection.
 */
export class ClientTls {
  /**
   * Options for `tls.connect`. `renew` changes these same arrays in place, because client libraries make one shallow copy of the
   * options and keep the arrays.
   */
  readonly options: { readonly ca?: string[]; readonly cert?: string[]; readonly key?: string[] };
  readonly files: TlsFiles;

  constructor(files: TlsFiles) {
    this.files = files;
    this.options = read(files);
  }

  /** Reads the files again. Keeps the previous contents if a file can't be read at the moment, or if they don't fit together. */
  renew(): void {
    const { cert, key } = this.files;
    try {
      if (cert !== undefined && key !== undefined && pairProblem(cert, key) !== undefined) return;
      for (const [name, list] of Object.entries(read(this.files)))
        this.options[name as keyof TlsFiles]?.splice(0, Number.POSITIVE_INFINITY, ...list);
    } catch {
      // They are probably being written.
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
