import { isIP } from 'node:net';
import type { Settings } from '../../../shared/settings/table.ts';
import { isDenied } from '../../../shared/task/host/private-address.ts';
import { isProblem, readUrl } from '../../../shared/task/url/url.ts';
import { Problem } from '../http/problem.ts';

/** Where to tell that a run has ended, and the secret that signs it. */
export interface Hook {
  readonly url: string;
  readonly secret: string;
}

/**
 * Reads a receiver. The address of a name is judged at each delivery, since it may change; a plain one at once.
 *
 * @throws Problem if it can't be one
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

/** Whoever answers for a webhook's URL: its host, with the port. */
export function receiverOf({ url }: Pick<Hook, 'url'>): string {
  return new URL(url).host;
}
