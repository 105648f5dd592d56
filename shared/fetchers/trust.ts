import { constants } from 'node:crypto';
import tls, { type SecureContext } from 'node:tls';
import { codeOf, messageOf } from '../runtime/errors.ts';
import { quoted } from '../runtime/started-as.ts';
import { shortened } from '../task/shortened.ts';

/** The certificates to accept besides those that the system trusts. */
export interface Trust {
  /** Additional certificate authorities, as PEM. */
  readonly authorities: readonly string[];
  /** Hosts whose certificates are not checked; written as in URLs, without brackets. */
  readonly unchecked: readonly string[];
}

export const SYSTEM_TRUST: Trust = { authorities: [], unchecked: [] };

/**
 * Two differences between our handshake and that of Node.js. They suit old servers, and browsers do the same. Servers that don't know
 * secure renegotiation (RFC 5746) are accepted, since nothing is renegotiated here. DHE is not offered: many servers would pick it with a
 * key that is too short, although they support better.
 */
const HANDSHAKE = {
  secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
  ciphers: `${tls.DEFAULT_CIPHERS}:!DHE`,
} as const;

type HandshakeOptions = { readonly rejectUnauthorized?: false } & (
  | { readonly secureContext: SecureContext }
  | typeof HANDSHAKE
);

/** Codes of a certificate with an unknown issuer: OpenSSL's X509_V_ERR_ names, without that prefix. */
const UNKNOWN_ISSUER = /^(UNABLE_TO_.*|(DEPTH_ZERO_)?SELF_SIGNED_CERT.*)$/;
/** Maximum characters of an error message that are kept: a certificate can name thousands of hosts. */
const MAX_SAID = 300;
/** Codes of a certificate that would still be invalid if its issuer were known. */
const WRONG = /^(CERT_.*|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

/** Decides which certificates of hosts are accepted, and supplies the handshake options. */
export class Certificates {
  readonly #context: SecureContext | undefined;
  readonly #unchecked: ReadonlySet<string>;

  constructor({ authorities, unchecked }: Trust) {
    this.#unchecked = new Set(unchecked);
    if (authorities.length > 0)
      this.#context = tls.createSecureContext({
        ca: [...tls.getCACertificates('default'), ...authorities],
        ...HANDSHAKE,
      });
  }

  /** Returns the TLS options for connections to this host. */
  optionsFor(host: string): HandshakeOptions {
    return {
      ...(this.#context === undefined ? HANDSHAKE : { secureContext: this.#context }),
      ...(this.#unchecked.has(host) ? { rejectUnauthorized: false } : {}),
    };
  }
}

/** Returns the error of a failed handshake. If the certificate was refused, the message says which flag would accept it. */
export function withRemedy(error: Error, host: string): Error {
  const code = codeOf(error) ?? '';
  const isUnknown = UNKNOWN_ISSUER.test(code);
  if (!isUnknown && !WRONG.test(code)) return error;
  const add = isUnknown ? '--ca-file FILE adds its issuer, ' : '';
  // Node.js puts advice for its own users behind a semicolon.
  const message = `${shortened(messageOf(error).replace(/;.*/s, ''), MAX_SAID)} (${add}--insecure ${quoted(host)} leaves it unchecked)`;
  // No cause is set, since only the innermost error of a chain is reported.
  return Object.assign(new Error(message), { code });
}
