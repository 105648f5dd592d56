import { codeOf } from '../../runtime/errors.ts';

/**
 * A name has no address, or nobody could say whether it has one. Its code is one of `dns.lookup` or of c-ares:
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

  /** @param servers those that were asked, to be told to people */
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

/** What the code of c-ares means to those who know `dns.lookup`: a name without addresses is not found, as is one that can't be. */
const CODES: Readonly<Record<string, string>> = {
  ENODATA: 'ENOTFOUND',
  ENONAME: 'ENOTFOUND',
  EBADNAME: 'ENOTFOUND',
  ECONNREFUSED: 'EAI_AGAIN',
  ECANCELLED: 'EAI_AGAIN',
  // While no name server is known, Node.js looks for some with each question, and drops those that are under way.
  EDESTRUCTION: 'EAI_AGAIN',
};

/** The code that an error of a look-up is reported with. */
export function nameCodeOf(error: unknown): string {
  const code = codeOf(error) ?? 'EAI_FAIL';
  return CODES[code] ?? code;
}
