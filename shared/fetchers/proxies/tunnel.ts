import { once } from 'node:events';
import http from 'node:http';
import net, { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { FetchError } from '../../ports/fetcher.ts';
import { codeOf, messageOf } from '../../runtime/errors.ts';
import type { ProxyAddress } from '../../task/host/proxy-list.ts';
import { ProxyError } from './proxy-error.ts';
import { type ProxyTimeout, within } from './proxy-timeout.ts';
import { askSocks } from './socks.ts';

/** The end of a tunnel. */
export interface TunnelTarget {
  /** The host as in the URL, without brackets. */
  readonly host: string;
  readonly port: number;
  /** An address of the host that the address guard allows. */
  readonly address: string;
}

/** Shortages on this machine, for which no proxy is to blame. */
const OWN_WANT = /^E(MFILE|NFILE|NOBUFS|NOMEM)$/;

/**
 * Statuses by which a proxy asks for a login; some answer 401 to a wrong one. Until the tunnel is open, such an answer can't come from the
 * target.
 */
const NO_LOGIN: ReadonlySet<number> = new Set([401, 407]);

/**
 * Connects to a proxy by TCP, with TLS if its scheme is `https`. The address guard doesn't check the proxy's own address, since the
 * deployment chose it. Rejects with a {@link ProxyError} with fault `proxy`.
 */
export async function connectToProxy(proxy: ProxyAddress, proxyTimeout: ProxyTimeout): Promise<Socket> {
  const { host, port, scheme } = proxy;
  const to = { host, port, ...(proxyTimeout.lookup === undefined ? {} : { lookup: proxyTimeout.lookup }) };
  const socket =
    scheme === 'https'
      ? tls.connect({ ...to, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
      : net.connect(to);
  // This listener stays: while the socket passes from one owner to the next, an unhandled error would end the process.
  socket.on('error', () => {});
  const connected = once(socket, scheme === 'https' ? 'secureConnect' : 'connect');
  const late = (): Error => new ProxyError(proxy, `does not answer within ${proxyTimeout.phaseMs} ms`, 'proxy');
  try {
    await within(proxyTimeout, connected, late);
    return socket;
  } catch (error: unknown) {
    socket.destroy();
    const isNoFault = error instanceof FetchError || OWN_WANT.test(codeOf(error) ?? '');
    if (isNoFault || error instanceof ProxyError) throw error;
    throw new ProxyError(proxy, `can't be connected to: ${messageOf(error)}`, 'proxy');
  }
}

/**
 * Opens a connection to the target through a proxy. An HTTP proxy gets the host's name, since it may have rules for names, and looks it up
 * again. A SOCKS proxy gets the address that was checked here.
 */
export async function openTunnel(
  proxy: ProxyAddress,
  target: TunnelTarget,
  proxyTimeout: ProxyTimeout,
): Promise<Socket> {
  const socket = await connectToProxy(proxy, proxyTimeout);
  const asked = proxy.scheme === 'socks5' ? askSocks(socket, proxy, target) : askToConnect(socket, proxy, target);
  const late = (): Error =>
    new ProxyError(proxy, `has not reached the host within ${proxyTimeout.phaseMs} ms`, 'unknown', 'timeout');
  try {
    await within(proxyTimeout, asked, late);
    return socket;
  } catch (error: unknown) {
    socket.destroy();
    throw error;
  }
}

/** Returns the header with the proxy's login, if it has one. It is sent only to the proxy. */
export function authorizationOf({ login }: ProxyAddress): { readonly 'proxy-authorization'?: string } {
  if (login === undefined) return {};
  const credentials = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  return { 'proxy-authorization': `Basic ${credentials}` };
}

/** Returns the problem when a proxy asks for a login: none is configured, or the configured one was refused. */
export function loginTrouble({ login }: ProxyAddress, status: number): string {
  return login === undefined ? `wants a login (${status})` : `does not take our login (${status})`;
}

/** Sends CONNECT. Any 2xx status opens the tunnel (RFC 9110 section 9.3.6). */
function askToConnect(socket: Socket, proxy: ProxyAddress, { host, port }: TunnelTarget): Promise<void> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, connection: 'keep-alive', ...authorizationOf(proxy) },
      createConnection: () => socket,
    });
    request.once('connect', ({ statusCode: status = 0 }, _, head) => {
      if (NO_LOGIN.has(status)) reject(new ProxyError(proxy, loginTrouble(proxy, status), 'proxy'));
      else if (status < 200 || status > 299) reject(new ProxyError(proxy, `answers CONNECT with ${status}`, 'unknown'));
      else {
        if (head.length > 0) socket.unshift(head);
        resolve();
      }
    });
    request.once('error', (error) => {
      const isHttp = !(codeOf(error) ?? '').startsWith('HPE_');
      if (isHttp) reject(new ProxyError(proxy, `hung up on CONNECT: ${error.message}`, 'unknown'));
      else reject(new ProxyError(proxy, 'does not speak HTTP', 'proxy'));
    });
    request.end();
  });
}
