import type { Socket } from 'node:net';
import { messageOf } from '../../runtime/errors.ts';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { ProxyError } from './proxy-error.ts';

/** The meaning of a proxy's reply (RFC 1928 section 6), by the library's name for it. The first row that matches decides. */
const REPLIES: readonly (readonly [RegExp, { readonly target: string } | { readonly unknown: string }])[] = [
  [/- ConnectionRefused$/, { target: 'ECONNREFUSED' }],
  [/- (HostUnreachable|NetworkUnreachable|TTLExpired)$/, { target: 'EHOSTUNREACH' }],
  [/- Failure$/, { unknown: 'answers "general failure"' }],
  [/- NotAllowed$/, { unknown: 'does not allow the host' }],
  [/- AddressNotSupported$/, { unknown: 'does not know that kind of address' }],
  [/^Socket closed$/, { unknown: 'hung up' }],
];

/** Asks the SOCKS5 proxy at the other end of the socket for a connection to an address. */
export async function askSocks(
  socket: Socket,
  proxy: ProxyAddress,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<void> {
  const { host, login } = proxy;
  // Loaded on first use.
  const { SocksClient } = await import('socks');
  const credentials = login === undefined ? {} : { userId: login.user, password: login.password };
  try {
    await SocksClient.createConnection({
      proxy: { host, port: proxy.port, type: 5, ...credentials },
      destination: { host: address, port },
      command: 'connect',
      existing_socket: socket,
    });
  } catch (error: unknown) {
    throw meaningOf(messageOf(error), proxy);
  }
}

function meaningOf(said: string, proxy: ProxyAddress): Error {
  const meaning = REPLIES.find(([pattern]) => pattern.test(said))?.[1];
  if (meaning === undefined) return new ProxyError(proxy, `can't be used: ${said}`, 'proxy');
  if ('unknown' in meaning) return new ProxyError(proxy, meaning.unknown, 'unknown');
  return Object.assign(new Error(`${meaning.target}, says ${proxy.name}`), { code: meaning.target });
}
