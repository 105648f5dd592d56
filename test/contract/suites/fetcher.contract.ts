import { afterAll, beforeAll, describe } from 'vitest';
import { describeAddresses } from './fetcher/addresses.ts';
import { describeAnswers } from './fetcher/answers.ts';
import { describeBodies } from './fetcher/bodies.ts';
import { describeBodyMemory } from './fetcher/body-memory.ts';
import { describeCertificates } from './fetcher/certificates.ts';
import { describeConnecting } from './fetcher/connecting.ts';
import { describeConnections } from './fetcher/connections.ts';
import { describeCredentials } from './fetcher/credentials.ts';
import { describeDocuments } from './fetcher/documents.ts';
import { describeFailures } from './fetcher/failures.ts';
import { describeFraming } from './fetcher/framing.ts';
import { describeHostileCodings } from './fetcher/hostile-codings.ts';
import { describeProxiedRequests } from './fetcher/proxied-requests.ts';
import { describeProxyFailover } from './fetcher/proxy-failover.ts';
import { describeProxyGuard } from './fetcher/proxy-guard.ts';
import { throughProxies, trustOurs } from './fetcher/proxy-setup.ts';
import { describeRequests } from './fetcher/requests.ts';
import { type OpenFetcher, setupFor } from './fetcher/setup.ts';

/**
 * What every fetcher promises; `shared/ports/fetcher.ts` says the same in a table. All of it is seen from outside: a real
 * site and real proxies on loopback tell what reached them.
 *
 * - **Answers.** Any status is an answer, a redirect too. A page's body is read only if its status is 2xx and the caller
 *   accepts its content type; a document's always. Only listed headers are told.
 * - **Bodies.** Decoded whatever they are coded as, a page's up to its cap and no further.
 * - **Memory.** Bodies of pages have a budget: without room they are not read on, and don't time out; the oldest goes on. It all
 *   comes back, whatever becomes of them.
 * - **Documents.** They come in pieces as they arrive, and can be left at any point.
 * - **Framing.** An answer ends where RFC 9112 has it end. More behind it is a failure, and never the next answer.
 * - **Hostile codings.** What a coding claims costs neither memory nor time beyond the request's own.
 * - **Failures.** Whatever else happens is a `FetchError` with a reason, within the time-out, and ends with the signal.
 * - **Certificates.** Those that the system or a given authority vouches for; any, of a host that is not to be checked.
 * - **Connections.** As many as requests at once, used again, and all closed after `stop`. Nothing is asked twice. 64 are made at
 *   once; those that hang hold up the others for half a second.
 * - **Addresses.** No private address is connected to, however it is written or looked up.
 * - **Credentials.** A host's own headers and logins reach its origin alone. Cookies are never sent.
 * - **Requests.** Any method, body and headers arrive as they are. What may not be repeated is sent once, whatever becomes of it.
 * - **Proxies.** The same through HTTP, HTTPS and SOCKS5 proxies: they take turns, one that fails rests, a private address is
 *   refused before any of them hears of it.
 */
export function describeFetcher(name: string, open: OpenFetcher): void {
  describe(`fetcher: ${name}`, () => {
    const setup = setupFor(open);
    describeAnswers(setup);
    describeBodies(setup);
    describeBodyMemory(setup);
    describeDocuments(setup);
    describeFraming(setup);
    describeHostileCodings(setup);
    describeFailures(setup);
    describeCertificates(setup);
    describeConnections(setup);
    describeConnecting(setup);
    describeAddresses(setup);
    describeCredentials(setup);
    describeRequests(setup);
  });
}

/** What every fetcher promises of requests through proxies: see {@link describeFetcher}. */
export function describeFetcherThroughProxies(name: string, open: OpenFetcher): void {
  describe(`fetcher through proxies: ${name}`, () => {
    beforeAll(() => trustOurs(true));
    afterAll(() => trustOurs(false));
    const openFetcher = throughProxies(open);
    describeProxiedRequests(openFetcher);
    describeProxyFailover(openFetcher);
    describeProxyGuard(openFetcher);
  });
}
