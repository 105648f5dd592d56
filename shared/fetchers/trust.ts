import { constants } from 'node:crypto';
import tls, { type SecureContext } from 'node:tls';
import { codeOf, messageOf } from '../runtime/errors.ts';
import { quoted } from '../runtime/started-as.ts';
import { shortened } from '../task/shortened.ts';

/** Which certificates are taken for good, besides those that the system vouches for. */
export interface Trust {
  /** More authorities, as PEM. */
  readonly authorities: readonly string[];
  /** Hosts whose certificates are not checked, as in URLs, without brackets. */
  readonly unchecked: readonly string[];
}

export const SYSTEM_TRUST: Trust = { authorities: [], unchecked: [] };

/**
 * How a handshake differs from that of Node.js: as browsers', it suits old servers. One that doesn't know secure renegotiation (RFC
 * 5746) will do, since nothing is renegotiated here; and DHE is not offered, for which many have a key that is too short,
 * though they know better.
 */
const HANDSHAKE = {
  secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
  ciphers: `${tls.DEFAULT_CIPHERS}:!DHE`,
} as const;

type HandshakeOptions = { readonly rejectUnauthorized?: false } & (
  | { readonly secureContext: SecureContext }
  | typeof HANDSHAKE
);

/** What is wrong with a certificate whose issuer nobody knows: OpenSSL's X509_V_ERR_ names, without that prefix. */
const UNKNOWN_ISSUER = /^(UNABLE_TO_.*|(DEPTH_ZERO_)?SELF_SIGNED_CERT.*)$/;
/** Characters of what is wrong: a certificate may name thousands of hosts. */
const MAX_SAID = 300;
/** Whatever issuer is known, the certificate stays wrong. */
const WRONG = /^(CERT_.*|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

/** Decides about the certificates of a fetcher's hosts, and how handshakes with them are made. */
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

  /** For a connection to this host. */
  optionsFor(host: string): HandshakeOptions {
    return {
      ...(this.#context === undefined ? HANDSHAKE : { secureContext: this.#context }),
      ...(this.#unchecked.has(host) ? { rejectUnauthorized: false } : {}),
    };
  }
}

/** A failed handshake; if the certificate was refused, with what would let it pass. */
export function withRemedy(error: Error, host: string): Error {
  const code = codeOf(error) ?? '';
  const isUnknown = UNKNOWN_ISSUER.test(code);
  if (!isUnknown && !WRONG.test(code)) return error;
  const add = isUnknown ? '--ca-file FILE adds its issuer, ' : '';
  // What Node.js advises behind a semicolon is for its own users.
  const message = `${shortened(messageOf(error).replace(/;.*/s, ''), MAX_SAID)} (${add}--insecure ${quoted(host)} leaves it unchecked)`;
  // Without a cause: of a chain of errors, the innermost is the one that is told.
  return Object.assign(new Error(message), { code });
}
