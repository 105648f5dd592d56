import { lifetimeOf } from '../runtime/client-tls.ts';
import { minuteOf, type TlsWords } from './tls-words.ts';

/** What a problem is, as a predicate, and what to do about it. */
type Verdict = readonly [problem: string, mend: string];

/** What is said of a server's TLS, and what that means: the words of Node.js and OpenSSL, since clients leave out the codes. */
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
  [/certificate has expired|certificate is not yet valid/, () => ['has a certificate that is out of date', 'Renew it']],
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

/** What is wrong with a server's certificate, or its TLS, as a predicate and what to do. Nothing if it isn't that. */
export function certificateProblem(said: string, words: TlsWords): string | undefined {
  const [, verdict] = PROBLEMS.find(([pattern]) => pattern.test(said)) ?? [];
  if (verdict === undefined) return undefined;
  const [problem, mend] = verdict(words);
  // What OpenSSL says of its own source files, and what Node.js advises behind a semicolon, is for their own users.
  const reason = said.replace(/^.*:SSL routines:[^:]*:([^:]*):.*$/s, '$1').replace(/;.*/s, '');
  return `${problem}: ${reason}. ${mend}`;
}

/** Why a connection was lost, in those words if it is that. */
export function lossOf(reason: string, words: TlsWords): string {
  return certificateProblem(reason, words) ?? reason;
}

function wantsCertificate({ cert, key }: TlsWords): Verdict {
  return ['wants a client certificate', `Set ${cert} and ${key}`];
}

function refusesCertificate({ cert }: TlsWords, file: string): Verdict {
  const ended = lastDayOf(file);
  const problem = 'refuses the client certificate';
  if (ended !== undefined) return [problem, `That in ${cert} was valid until ${ended}: renew it`];
  return [
    problem,
    `Check ${cert}: the server must trust its issuer, and the certificates between them belong in the same file`,
  ];
}

/** When a certificate was valid for the last time, if it is out of date. */
function lastDayOf(file: string): string | undefined {
  try {
    const { until } = lifetimeOf(file);
    return until < Date.now() ? minuteOf(until) : undefined;
  } catch {
    return undefined;
  }
}
