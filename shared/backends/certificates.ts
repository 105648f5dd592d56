/** What is said of a server's TLS, what that means, and what to do: the words of Node.js and OpenSSL, since clients leave out the codes. */
const PROBLEMS: readonly (readonly [said: RegExp, problem: string, mend: string])[] = [
  [
    /self-signed certificate|unable to (?:get (?:local )?issuer certificate|verify the first certificate)/,
    'has a certificate that is not trusted',
    'Name a file with its issuer (PEM) in the environment: NODE_EXTRA_CA_CERTS=ca.pem',
  ],
  [
    /does not match certificate's altnames/,
    'has a certificate for another name',
    'Its address must be a name in the certificate',
  ],
  [/certificate has expired|certificate is not yet valid/, 'has a certificate that is out of date', 'Renew it'],
  [/alert certificate required/, 'wants a client certificate', 'Trawl has none: use a login'],
  [/wrong version number/, 'speaks no TLS', 'Check the scheme: redis:// and amqp:// are without TLS'],
];

/** What is wrong with a server's certificate, or its TLS, as a predicate and what to do. Nothing if it isn't that. */
export function certificateProblem(said: string): string | undefined {
  const [, problem, mend] = PROBLEMS.find(([pattern]) => pattern.test(said)) ?? [];
  if (problem === undefined) return undefined;
  // What OpenSSL says of its own source files, and what Node.js advises behind a semicolon, is for their own users.
  const reason = said.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, '$1').replace(/;.*/s, '');
  return `${problem}: ${reason}. ${mend}`;
}
