/**
 * The reason why a request got no answer, or none that can be used.
 *
 * | reason            | what happened                                                              |
 * |-------------------|----------------------------------------------------------------------------|
 * | `timeout`         | a phase, or the whole request, took too long                                |
 * | `nxdomain`        | the name doesn't exist                                                      |
 * | `dns`             | the name could not be looked up                                             |
 * | `connection`      | refused, reset, closed early, or not HTTP                                   |
 * | `tls`             | the handshake failed, or the certificate is not valid                       |
 * | `redirects`       | too many redirects                                                          |
 * | `encoding`        | the body doesn't match its Content-Encoding, or decodes to next to nothing  |
 * | `size`            | the body is over the cap                                                    |
 * | `content_type`    | the caller doesn't accept this content type                                 |
 * | `private_address` | the address guard refused it                                                |
 * | `bad_url`         | the URL can't be requested                                                  |
 * | `proxy`           | none of our proxies can be used; the host was not asked                     |
 * | `network`         | our own network is down: several hosts were asked and none answers          |
 * | `exhausted`       | this machine has run out of sockets or file descriptors                     |
 * | `aborted`         | the caller's signal was aborted                                             |
 */
export type FetchFailure =
  | 'timeout'
  | 'nxdomain'
  | 'dns'
  | 'connection'
  | 'tls'
  | 'redirects'
  | 'encoding'
  | 'size'
  | 'content_type'
  | 'private_address'
  | 'bad_url'
  | 'proxy'
  | 'network'
  | 'exhausted'
  | 'aborted';
