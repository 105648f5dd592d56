import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { partsOf } from '../../shared/task/parts.ts';

const run = promisify(execFile);

/** Makes certificates valid for a day, on the most common curve. All hosts share one key, since it needn't be secret. */
const SCRIPT = `set -e
printf '[req]\\ndistinguished_name = name\\n[name]\\n' > openssl.cnf
make() { openssl req -x509 -config openssl.cnf -days 1 "$@"; }
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out authority-key.pem
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
make -key authority-key.pem -out authority.pem -subj "/CN=Authority of the bench" -addext basicConstraints=critical,CA:TRUE
n=0
for names in "$@"; do
  make -CA authority.pem -CAkey authority-key.pem -key key.pem -out "$n.pem" -subj "/CN=Hosts of the bench" -addext "subjectAltName=$names"
  n=$((n + 1))
done`;

/** Hosts share certificates, as they do at a provider of many small sites. One for each host would take several seconds to make. */
const HOSTS_PER_CERTIFICATE = 25;

/**
 * Makes a certificate authority, and certificates signed by it for these addresses, with `openssl`. Clients must trust `authority.pem`. All hosts
 * use `key.pem`, and each host the certificate named by {@link certificateOf}.
 *
 * @returns the folder of these files
 */
export async function makeCertificates(folder: string, addresses: readonly string[]): Promise<string> {
  const made = join(folder, 'certificates');
  await mkdir(made, { recursive: true });
  const names: string[] = [];
  for (const hosts of partsOf(addresses, HOSTS_PER_CERTIFICATE)) {
    names.push(hosts.map((address) => `IP:${address}`).join());
  }
  await run('sh', ['-c', SCRIPT, 'certificates', ...names], { cwd: made });
  return made;
}

/** Returns the file name of a host's certificate, by the host's index among the addresses. */
export function certificateOf(host: number): string {
  return `${Math.floor(host / HOSTS_PER_CERTIFICATE)}.pem`;
}
