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
import { describeFloods } from './fetcher/floods.ts';
import { describeFraming } from './fetcher/framing.ts';
import { describeHostileCodings } from './fetcher/hostile-codings.ts';
import { describeProxiedRequests } from './fetcher/proxied-requests.ts';
import { describeProxyFailover } from './fetcher/proxy-failover.ts';
import { describeProxyGuard } from './fetcher/proxy-guard.ts';
import { throughProxies, trustOurs } from './fetcher/proxy-setup.ts';
import { describeRequests } from './fetcher/requests.ts';
import { type OpenFetcher, setupFor } from './fetcher/setup.ts';
import { describeTakenErrors } from './fetcher/taken-errors.ts';

/**
 * The promises of every fetcher; `shared/ports/fetcher.ts` lists the same in a table. All are observed from outside: a real
 * site and real proxies on loopback record what reached them.
 *
 * - **Answers.** Any status is an answer, including a redirect. A page's body is read only if its status is 2xx and the caller
 *   accepts its content type; a document's is always read. Only listed headers are returned.
 * - **Errors taken as pages.** Read like pages. If that fails, status and headers count all the same.
 * - **Bodies.** Decoded from any supported coding; a page's only up to its cap.
 * - **Memory.** Page bodies share a budget. Without room they are not read further and don't time out; the oldest resumes.
 *   The budget gets everything back, however the bodies end.
 * - **Documents.** Delivered in pieces as they arrive. The reader can stop at any point.
 * - **Framing.** An answer ends where RFC 9112 says. Surplus bytes after it are a failure, and never the next answer.
 * - **Floods.** A server that sends far more than its answers is cut off within seconds.
 * - **Hostile codings.** A coded body costs neither memory nor time beyond the limits of its request.
 * - **Failures.** Everything else is a `FetchError` with a reason, within the time-out. The signal aborts at any stage.
 * - **Certificates.** Accepted if the system or a given authority vouches for them; any, from a host that is left unchecked.
 * - **Connections.** As many as simultaneous requests, reused, and all closed after `stop`. No failed request is repeated, except
 *   one that a kept connection lost. 64 are made at once; those that hang hold up the others for half a second.
 * - **Addresses.** No private address is connected to, however it is written or resolved.
 * - **Credentials.** A host's own headers and logins reach its origin alone. Cookies that a host sets are never sent by themselves.
 * - **Requests.** Any method, body and headers arrive unchanged. A request that may not be repeated is sent once, whatever happens.
 * - **Proxies.** The same through HTTP, HTTPS and SOCKS5 proxies. They take turns, and one that fails rests. A private address
 *   is refused before any proxy is asked.
 */
export function describeFetcher(name: string, open: OpenFetcher): void {
  describe(`fetcher: ${name}`, () => {
    const setup = setupFor(open);
    describeAnswers(setup);
    describeTakenErrors(setup);
    describeBodies(setup);
    describeBodyMemory(setup);
    describeDocuments(setup);
    describeFraming(setup);
    describeFloods(setup);
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

/** The promises of every fetcher about requests through proxies: see {@link describeFetcher}. */
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
