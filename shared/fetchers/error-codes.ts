import { FetchError } from '../ports/fetcher.ts';
import { codeOf, messageOf } from '../runtime/errors.ts';
import type { FetchFailure } from '../task/task/fetch-failure.ts';

/**
 * The meaning of error codes of Node.js, OpenSSL, the resolver, got and undici. The first row that matches decides.
 *
 * `EMFILE` and similar codes mean a shortage on this machine, not a fault of the host.
 */
const MEANINGS: readonly (readonly [RegExp, FetchFailure])[] = [
  [/^ERR_PRIVATE_ADDRESS$/, 'private_address'],
  [/^ERR_PROXY$/, 'proxy'],
  // got's phase and total time-outs, a connect that the kernel gave up on, a resolver that did, a stalled handshake
  [/^(ETIMEDOUT|ESOCKETTIMEDOUT|ETIMEOUT|ERR_TLS_HANDSHAKE_TIMEOUT)$/, 'timeout'],
  [/^(ENOTFOUND|ENONAME)$/, 'nxdomain'],
  [/^(EAI_.*|ENODATA|ESERVFAIL|EREFUSED|EFORMERR|ENOTIMP|EBADNAME|EBADRESP)$/, 'dns'],
  // a failed handshake: the other side doesn't speak TLS, or shares no version with us
  [/^(EPROTO|ERR_SSL_.*|ERR_TLS_.*)$/, 'tls'],
  // an invalid certificate: OpenSSL's X509_V_ERR_ names, without that prefix
  [/^(CERT_.*|CRL_.*|UNABLE_TO_.*|ERROR_IN_C.*|(DEPTH_ZERO_)?SELF_SIGNED_CERT.*|HOSTNAME_MISMATCH)$/, 'tls'],
  [/^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|SUBJECT_ISSUER_MISMATCH|AKID_.*|KEYUSAGE_.*)$/, 'tls'],
  [/^(ERR_INVALID_URL|ERR_UNSUPPORTED_PROTOCOL)$/, 'bad_url'],
  // zlib, zstd, brotli: the body is not coded as declared, is cut short, or decodes to next to nothing
  [/^(Z_.*|ZSTD_.*|ERR__ERROR_.*|ERR_BROTLI_.*|ERR_EMPTY_CODING)$/, 'encoding'],
  [/^E(CONN.*|PIPE|HOST.*|NET.*|ADDR.*|ACCES|PERM)$/, 'connection'],
  [/^E(MFILE|NFILE|NOBUFS|NOMEM)$/, 'exhausted'],
  // not HTTP; a body that is too short; closed early
  [/^(HPE_.*|ERR_HTTP2?_.*|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_.*)$/, 'connection'],
];

/** Turns anything thrown by a request into a {@link FetchError}, with reason `connection` if no row of the table matches. */
export function toFetchError(thrown: unknown, status?: number): FetchError {
  const chain = errorsIn(thrown);
  const made = chain.find((error) => error instanceof FetchError);
  if (made !== undefined) return made;
  // The innermost cause is the most precise: got reports a time-out in the middle of a body as a read error.
  const root = chain.findLast((error) => reasonOf(error) !== undefined) ?? chain.at(-1) ?? thrown;
  return new FetchError(reasonOf(root) ?? 'connection', clearMessageOf(root), {
    cause: holdsRequest(root) ? undefined : root,
    ...(status === undefined ? {} : { status }),
  });
}

/**
 * The beginning of an error of OpenSSL: the address of a thread, which differs in each process, a code, and the function. Its reason follows,
 * and then a place in the source.
 */
const OPENSSL = /^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:(?<why>[^:]+):/;

function clearMessageOf(error: unknown): string {
  const message = messageOf(error);
  const why = OPENSSL.exec(message)?.groups?.why;
  return why === undefined ? message : `TLS failed: ${why}`;
}

/** got's own errors hold the whole request, so they are not kept. */
function holdsRequest(error: unknown): boolean {
  return error instanceof Error && 'options' in error;
}

function reasonOf(error: unknown): FetchFailure | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  return MEANINGS.find(([pattern]) => pattern.test(code))?.[1];
}

function errorsIn(thrown: unknown): Error[] {
  const chain: Error[] = [];
  let error = thrown;
  while (error instanceof Error && chain.length < 8) {
    chain.push(error);
    error = error.cause;
  }
  return chain;
}
