import { UsageError } from '../../runtime/errors.ts';
import { isProblem, readUrl, withoutCredentials } from '../../task/url/url.ts';

/** Characters that the URL Standard drops without a word, inside a name or behind it. */
const DROPPED = /\p{Cc}/u;

/**
 * Returns the politeness key for a host as people write it: `example.com`, `Example.com:8080` or a URL.
 *
 * @throws UsageError if the text can't be a host
 */
export function readHost(text: string): string {
  const asUrl = /^https?:\/\//i.test(text) ? text : `${text.endsWith(':443') ? 'https' : 'http'}://${text}`;
  const url = readUrl(asUrl);
  if (!isProblem(url) && url.host.includes('*'))
    throw new UsageError(`expected one host like example.com or example.com:8080, got the pattern "${url.host}"`);
  if (isProblem(url) || DROPPED.test(text.trim()) || (asUrl !== text && /[/?#@]/.test(text)))
    throw new UsageError(
      `expected a host like example.com or example.com:8080, got "${withoutCredentials(asUrl).slice(asUrl.length - text.length)}"`,
    );
  return url.host;
}
