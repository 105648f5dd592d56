import ipaddr from 'ipaddr.js';
import { certificatesIn, privateKeyIn } from '../runtime/client-tls.ts';
import { messageOf } from '../runtime/errors.ts';
import { entriesOf, type Parser } from './parsers.ts';

/** A file of certificates, as a list of PEM texts. It is read right away, so that a bad file is reported like any other bad setting. */
export function certificateFile(): Parser<readonly string[]> {
  return (path) => (path === '' ? { value: [] } : ofFile(path, certificatesIn, 'a file of certificates in PEM form'));
}

/** The path of a file of certificates. The file is checked right away, and read again whenever it is needed. */
export function certificatePath(): Parser<string | undefined> {
  return pathOf(certificatesIn, 'a file of certificates in PEM form');
}

/** The path of a file with a private key, checked in the same way. */
export function keyPath(): Parser<string | undefined> {
  return pathOf(privateKeyIn, 'a file with a private key in PEM form');
}

function pathOf(read: (path: string) => unknown, what: string): Parser<string | undefined> {
  return (path) => {
    if (path === '') return { value: undefined };
    const found = ofFile(path, read, what);
    return 'expected' in found ? found : { value: path };
  };
}

function ofFile<T>(path: string, read: (path: string) => T, what: string): ReturnType<Parser<T>> {
  try {
    return { value: read(path) };
  } catch (error: unknown) {
    return { expected: `${what} (${messageOf(error)})` };
  }
}

/** Host names or addresses, comma-separated, in the form that URLs use but without brackets. */
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

/** IP addresses and CIDR ranges, comma-separated. */
export function addresses(): Parser<readonly string[]> {
  return (given) => {
    const found = entriesOf(given);
    if (found.every((each) => ipaddr.isValid(each) || ipaddr.isValidCIDR(each))) return { value: found };
    return { expected: 'addresses or CIDRs, comma-separated, like 127.0.0.1, 172.16.0.0/12' };
  };
}
