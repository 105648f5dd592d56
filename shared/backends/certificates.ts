import { lifetimeOf } from '../runtime/client-tls.ts';
import { minuteOf, type TlsWords } from './tls-words.ts';

/** A problem, as a predicate, and its remedy. */
type Verdict = readonly [problem: string, mend: string];

/** TLS errors and their meaning, by the texts of Node.js and OpenSSL, since clients leave out the codes. */
const PROBLEMS: readonly (readonly [said: RegExp, verdict: (words: TlsWords) => Verdict])[] = [
  [
    /self-signed certificate|unable to (?:get (?:local )?issuer certificate|verify the first certificate)/,
    ({ ca, hasCa }) => [
      'has a certificate that is not trusted',
      hasCa ? `Its issuer is not in ${ca.replace('=ca.pem', '')}` : `Name a file with its issuer (PEM): ${ca}`,
    ],
  ],
  [
    /does not match certificate's altnames/,
    ({ address }) => [
      'has a certificate for another name',
      `Its address in ${address} must be a name in the certificate`,
    ],
  ],
  [/certificate has expired/, () => ['has a certificate that has expired', 'Renew it']],
  [
    /certificate is not yet valid/,
    () => ['has a certificate that is not valid yet', 'Is the clock right, here and where the certificate was made?'],
  ],
  [
    /alert certificate required|alert handshake failure/,
    (words) => (words.certFile === undefined ? wantsCertificate(words) : refusesCertificate(words, words.certFile)),
  ],
  [
    /alert (?:bad certificate|unsupported certificate|certificate \w+|unknown ca|access denied|decrypt error|insufficient security)/,
    (words) => (words.certFile === undefined ? wantsCertificate(words) : refusesCertificate(words, words.certFile)),
  ],
  [/^without it, /, ({ address, schemes: [, tls] }) => ['speaks TLS', `Check ${address}: ${tls} is with TLS`]],
  [
    /^with it, |wrong version number/,
    ({ address, schemes: [plain] }) => ['speaks no TLS', `Check ${address}: ${plain} is without TLS`],
  ],
];

/** Returns the problem and the remedy, as a predicate, if an error is about a server's certificate or its TLS. */
export function certificateProblem(said: string, words: TlsWords): string | undefined {
  const [, verdict] = PROBLEMS.find(([pattern]) => pattern.test(said)) ?? [];
  if (verdict === undefined) return undefined;
  const [problem, mend] = verdict(words);
  // Leaves out OpenSSL's source locations, and Node.js' advice after a semicolon, which is for programmers.
  const reason = said.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, '$1').replace(/;.*/s, '');
  return `${problem}: ${reason}. ${mend}`;
}

/** Returns the reason why a connection was lost, reworded if it is a problem with TLS. */
export function lossOf(reason: string, words: TlsWords): string {
  return certificateProblem(reason, words) ?? reason;
}

function wantsCertificate({ cert, key }: TlsWords): Verdict {
  return ['requires a client certificate', `Set ${cert} and ${key}`];
}

function refusesCertificate({ cert }: TlsWords, file: string): Verdict {
  const ended = lastDayOf(file);
  const problem = 'refuses the client certificate';
  if (ended !== undefined) return [problem, `The one in ${cert} expired at ${ended}: renew it`];
  return [
    problem,
    `Check ${cert}: the server must trust its issuer, and the certificates between them belong in the same file`,
  ];
}

/** Returns the time at which a certificate expired, if it has. */
function lastDayOf(file: string): string | undefined {
  try {
    const { until } = lifetimeOf(file);
    return until < Date.now() ? minuteOf(until) : undefined;
  } catch {
    return undefined;
  }
}
