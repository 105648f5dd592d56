import { codeOf } from '../../runtime/errors.ts';

/**
 * A name has no address, or it could not be found out whether it has one. Its code is one of `dns.lookup` or of c-ares:
 *
 * | code                              | what happened                                        |
 * |-----------------------------------|------------------------------------------------------|
 * | `ENOTFOUND`                       | there is no such name, or it has no address          |
 * | `ETIMEOUT`                        | no name server answered in time                      |
 * | `EAI_AGAIN`                       | no name server could be reached                      |
 * | `ESERVFAIL`, `EREFUSED` and others | name servers answered, but could not say             |
 */
export class NameError extends Error {
  override readonly name = 'NameError';
  readonly code: string;
  readonly hostname: string;

  /** @param servers the name servers that were asked, for the message */
  constructor(code: string, hostname: string, servers: readonly string[] = []) {
    const asked = servers.length === 0 ? '' : ` by ${servers.join(', ')}`;
    super(
      code === 'ENOTFOUND'
        ? `${hostname} is not known to DNS (${code})`
        : `${hostname} could not be looked up${asked} (${code}). Check the machine's name servers, or DNS_SERVERS`,
    );
    this.code = code;
    this.hostname = hostname;
  }
}

/** Codes of c-ares, and what `dns.lookup` calls them: a name without addresses counts as not found, as does an invalid name. */
const CODES: Readonly<Record<string, string>> = {
  ENODATA: 'ENOTFOUND',
  ENONAME: 'ENOTFOUND',
  EBADNAME: 'ENOTFOUND',
  ECONNREFUSED: 'EAI_AGAIN',
  ECANCELLED: 'EAI_AGAIN',
  // While Node.js knows no name server, it searches for some with every question and drops the questions in flight.
  EDESTRUCTION: 'EAI_AGAIN',
};

/** Returns the code with which an error of a look-up is reported. */
export function nameCodeOf(error: unknown): string {
  const code = codeOf(error) ?? 'EAI_FAIL';
  return CODES[code] ?? code;
}
