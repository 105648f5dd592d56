import type { Api } from '../parts.ts';
import { Problem } from './problem.ts';

/**
 * Refuses requests that Node would answer by itself with an empty body, or would let pass: those of HTTP/1.1 without exactly one `Host`
 * (RFC 9112, section 3.2), and those that expect anything but `100-continue` (RFC 9110, section 10.1.1). Node must be told not to check
 * for `Host` (`requireHostHeader: false`).
 */
export function checkHeads(app: Api): void {
  app.server.on('checkExpectation', (request, answer) => app.server.emit('request', request, answer));
  app.addHook('onRequest', async ({ raw }, reply) => {
    const { httpVersion, headers, rawHeaders } = raw;
    const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
    // HTTP/1.0 needs none.
    if (headers.host === undefined && httpVersion !== '1.0')
      throw new Problem('usage', 'expected one Host header, got none');
    if (hosts > 1) throw new Problem('usage', `expected one Host header, got ${hosts}`);
    const { expect } = headers;
    if (expect === undefined || expect.toLowerCase() === '100-continue') return;
    // Its body might never come.
    reply.header('connection', 'close');
    throw new Problem('expectation_failed', `expected Expect to be 100-continue, got ${expect}`);
  });
}
