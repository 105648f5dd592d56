import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Valid for a day; on the curve that most sites use, and one key for all hosts, since it is no secret. */
const SCRIPT = `set -e
printf '[req]\\ndistinguished_name = name\\n[name]\\n' > openssl.cnf
make() { openssl req -x509 -config openssl.cnf -days 1 "$@"; }
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out authority-key.pem
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
make -key authority-key.pem -out authority.pem -subj "/CN=Authority of the bench" -addext basicConstraints=critical,CA:TRUE
for address in "$@"; do
  make -CA authority.pem -CAkey authority-key.pem -key key.pem -out "$address.pem" -subj "/CN=$address" \\
    -addext "subjectAltName=IP:$address"
done`;

/**
 * Makes an authority, and a certificate by it for each address, with `openssl`: `authority.pem`, which clients are to trust, `key.pem` for all
 * hosts, and `<address>.pem`.
 */
export async function makeCertificates(folder: string, addresses: readonly string[]): Promise<string> {
  const made = join(folder, 'certificates');
  await mkdir(made, { recursive: true });
  await run('sh', ['-c', SCRIPT, 'certificates', ...addresses], { cwd: made });
  return made;
}
