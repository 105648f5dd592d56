import { isIP } from 'node:net';
import type { Settings } from '../../../shared/settings/table.ts';
import { isDenied } from '../../../shared/task/host/private-address.ts';
import { isProblem, readUrl } from '../../../shared/task/url/url.ts';
import { Problem } from '../http/problem.ts';

/** The receiver of the message that a run has ended, and the secret that signs it. */
export interface Hook {
  readonly url: string;
  readonly secret: string;
}

/**
 * Reads and checks a receiver. An IP address is checked now; a host name's addresses can change, and are checked at each delivery.
 *
 * @throws Problem if the URL can't be a receiver
 */
export function readHook({ url: text, secret }: Hook, allowedPrivate: Settings['privateHosts']): Hook {
  const url = readUrl(text);
  if (isProblem(url))
    throw new Problem('malformed', `the webhook's URL can't be used: ${url.problem}; expected http:// or https://`);
  if (url.login !== undefined)
    throw new Problem('malformed', "the webhook's URL must not hold credentials: its secret signs the message");
  const { hostname } = new URL(url.href);
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isDenied(address, allowedPrivate))
    throw new Problem(
      'malformed',
      `the webhook's address ${address} is a private one, which PRIVATE_HOSTS doesn't allow`,
    );
  return { url: url.href, secret };
}

/** Returns the host of a webhook's URL, with the port. */
export function receiverOf({ url }: Pick<Hook, 'url'>): string {
  return new URL(url).host;
}
