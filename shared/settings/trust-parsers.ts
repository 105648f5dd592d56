import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { messageOf } from '../runtime/errors.ts';
import { entriesOf, type Parser } from './parsers.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A file of certificates, as each one's PEM. It is read at once, so that a wrong one is a wrong setting like any other. */
export function certificateFile(): Parser<readonly string[]> {
  return (path) => {
    if (path === '') return { value: [] };
    try {
      const found = readFileSync(path, 'utf8').match(PEM) ?? [];
      for (const pem of found) new X509Certificate(pem);
      if (found.length > 0) return { value: found };
      return { expected: 'a file of certificates in PEM form (it has none)' };
    } catch (error: unknown) {
      return { expected: `a file of certificates in PEM form (${messageOf(error)})` };
    }
  };
}

/** Host names or addresses, comma-separated, as they are in URLs. */
export function hosts(): Parser<readonly string[]> {
  return (given) => {
    const names = entriesOf(given).map((name) => URL.parse(`https://${name}/`));
    const isAll =
      !/[*\s]/.test(given.replaceAll(', ', ',')) &&
      names.every((url) => url !== null && url.port === '' && url.pathname === '/' && url.username === '');
    if (!isAll) return { expected: 'host names, comma-separated, like intranet.example: no scheme, no port' };
    return { value: names.flatMap((url) => url?.hostname.replace(/^\[|\]$/g, '') ?? []) };
  };
}

/** Addresses and ranges of them, comma-separated. */
export function addresses(): Parser<readonly string[]> {
  return (given) => {
    const found = entriesOf(given);
    if (found.every((each) => ipaddr.isValid(each) || ipaddr.isValidCIDR(each))) return { value: found };
    return { expected: 'addresses or CIDRs, comma-separated, like 127.0.0.1, 172.16.0.0/12' };
  };
}
