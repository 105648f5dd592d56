import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { COMMAND_ATTEMPTS, connectWithAttempts, type Refusal } from '../../../../shared/backends/attempts.ts';
import { postgresRefusals, rabbitMqRefusals, redisRefusals } from '../../../../shared/backends/refusals.ts';
import { postgresTlsWords, redisTls, type TlsWords } from '../../../../shared/backends/tls-words.ts';
import {
  ConfigurationError,
  InterruptedError,
  NotNowError,
  UnavailableError,
} from '../../../../shared/runtime/errors.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { selfSigned } from '../../../support/site/certificate.ts';
import { outOfDate } from '../../../support/site/old-certificate.ts';
import { LogLines } from '../../../support/stores/embedded.ts';

const PARTS = settingsFrom({ flag: {}, environment: {}, file: {} });
const URLS = settingsFrom({ flag: {}, environment: { REDIS_URL: 'redis://r', RABBITMQ_URL: 'amqp://q' }, file: {} });

interface Given {
  /** Number of attempts that fail before one succeeds. */
  readonly failures: number;
  readonly attempts?: number;
  readonly error?: Error;
  readonly refusals?: readonly Refusal[];
  readonly words?: TlsWords;
  readonly signal?: AbortSignal;
}

/** Connects to something that fails a number of times, on timers that take no time. */
async function connect(given: Given) {
  const { failures, attempts = COMMAND_ATTEMPTS, error = new Error('refused.'), signal } = given;
  const { refusals = [], words = redisTls(PARTS).words } = given;
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = new LogLines();
  const startedAt = Date.now();
  let asked = 0;
  const connecting = connectWithAttempts(
    async () => {
      if (asked++ < failures) throw error;
    },
    { name: 'Redis', where: 'a.test:6379', advice: 'Check REDIS_URL', attempts, refusals, words, log, signal },
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await vi.runAllTimersAsync();
  return { thrown: await connecting, lines: log.lines, asked: () => asked, tookMs: Date.now() - startedAt };
}

test('a success at the first attempt is only info', async () => {
  const { thrown, lines } = await connect({ failures: 0 });
  expect([thrown, lines]).toEqual([undefined, ['info: Connected to Redis on attempt 1']]);
});

test('failed attempts are numbered, and the one that succeeded is named', async () => {
  const { thrown, lines } = await connect({ failures: 3 });
  expect(thrown).toBeUndefined();
  expect(lines).toEqual([
    'warn: Attempt 1 failed: Redis at a.test:6379: refused.',
    'warn: Attempt 2 failed: Redis at a.test:6379: refused.',
    'warn: Attempt 3 failed: Redis at a.test:6379: refused.',
    'warn: Connected to Redis on attempt 4',
  ]);
});

test('a command gives up after ten attempts, about half a minute, and says what to check', async () => {
  const { thrown, lines, asked, tookMs } = await connect({ failures: Number.POSITIVE_INFINITY });
  expect(thrown).toBeInstanceOf(UnavailableError);
  expect(thrown).toMatchObject({
    exitCode: 1,
    message: "Redis at a.test:6379 can't be reached, after 10 attempts: refused. Check REDIS_URL",
    cause: new Error('refused.'),
  });
  expect([asked(), lines.length]).toEqual([10, 10]);
  expect(tookMs).toBeGreaterThan(20_000);
  expect(tookMs).toBeLessThan(35_000);
});

test('a worker tries for ever, every 5 s in the end', async () => {
  const { thrown, asked, tookMs } = await connect({ failures: 200, attempts: Number.POSITIVE_INFINITY });
  expect([thrown, asked()]).toEqual([undefined, 201]);
  expect(tookMs / 200).toBeGreaterThan(4_500);
  expect(tookMs / 200).toBeLessThan(5_000);
});

test('a problem that waiting does not mend is not tried again', async () => {
  const error = new ConfigurationError(['Redis may evict keys']);
  const { thrown, lines, asked } = await connect({ failures: 5, error });
  expect([thrown, asked()]).toEqual([error, 1]);
  expect(lines.length).toBeLessThanOrEqual(1);
});

test('an interrupt ends the attempts, and names the service', async () => {
  const { thrown, asked } = await connect({ failures: 5, signal: AbortSignal.abort() });
  const message = 'interrupted while connecting to Redis at a.test:6379. Check REDIS_URL';
  expect([thrown, asked()]).toEqual([new InterruptedError(message), 0]);
});

// biome-ignore format: a table
test.each([
  [new Error('connect ECONNREFUSED'),            ': connect ECONNREFUSED. Check REDIS_URL'],
  [new NotNowError('it is still loading'),       ': it is still loading'],
  [new Error('WRONGPASS invalid'),               ': refuses the user name or password: WRONGPASS invalid. Check the login in REDIS_URL'],
])('an interrupt of a wait for a service says what the last attempt met: %#', async (error, told) => {
  const stop = new AbortController();
  const connecting = connectWithAttempts(() => Promise.reject(error), {
    ...{ name: 'Redis', where: 'a.test:6379', advice: 'Check REDIS_URL', attempts: Number.POSITIVE_INFINITY },
    ...{ refusals: redisRefusals(URLS), words: redisTls(PARTS).words, signal: stop.signal },
    log: { ...new LogLines(), warn: () => stop.abort() } as unknown as LogLines,
  });
  await expect(connecting).rejects.toThrow(new InterruptedError(`interrupted while connecting to Redis at a.test:6379${told}`));
});

test('an interrupt does not wait for a service that never answers', async () => {
  const stop = new AbortController();
  const connecting = connectWithAttempts(() => new Promise(() => {}), {
    name: 'Redis',
    where: 'a.test:6379',
    advice: 'Check REDIS_URL',
    attempts: COMMAND_ATTEMPTS,
    ...{ refusals: [], words: redisTls(PARTS).words },
    log: new LogLines(),
    signal: stop.signal,
  });
  stop.abort();
  await expect(connecting).rejects.toThrow(InterruptedError);
});

const ACCESS = 'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused"';
const MAY_NOT = `Operation failed: ExchangeDeclare; 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - access to exchange 'crawl' in vhost '/' refused for user 'jo'"`;
const CHANNELS = `Connection closed: 530 (NOT-ALLOWED) with message "NOT_ALLOWED - number of channels opened for user 'jo' has reached the maximum allowed user limit of (1)"`;
const FLAG = `Connection closed: 541 (INTERNAL-ERROR) with message "INTERNAL_ERROR - Cannot declare a queue 'queue 'a' in vhost '/'' of type 'rabbit_quorum_queue' on node 'n': the corresponding feature flag is disabled"`;
const POSTGRES_REFUSALS = postgresRefusals(postgresTlsWords('postgres://db/t'));
const WITH_CERTIFICATE = postgresRefusals(postgresTlsWords('postgres://db/t?sslcert=c.pem&sslkey=k.pem'));
/** amqplib does not pass on the reason. */
const VHOST = 'Expected ConnectionOpenOk; got <ConnectionClose channel:0>';

// biome-ignore format: a table
test.each([
  [redisRefusals(PARTS),    '',      'WRONGPASS invalid username-password pair', 'user name or password', 'REDIS_PASSWORD, and REDIS_USER if it has users'],
  [redisRefusals(URLS),     '',      'WRONGPASS invalid username-password pair', 'user name or password', 'the login in REDIS_URL'],
  [redisRefusals(PARTS),    '',      'NOAUTH Authentication required',           'connection without a password', 'REDIS_PASSWORD, and REDIS_USER if it has users'],
  [redisRefusals(URLS),     '',      'ERR SELECT is not allowed in cluster mode', 'database', 'the number in REDIS_URL. But Redis Cluster is not supported: use a single Redis'],
  [redisRefusals(PARTS),    '',      "ERR unknown command 'select', with args beginning with: '1' ", 'database', 'REDIS_DB. A Redis Sentinel has none, and keeps no data: name the Redis itself'],
  [redisRefusals(PARTS),    '',      "ERR unknown command 'info', with args beginning with: ", 'command', 'rename-command in its configuration: Trawl needs this command'],
  [rabbitMqRefusals(PARTS), '',      FLAG,                                       'queue type',            'its feature flags: rabbitmqctl enable_feature_flag all (or set QUEUE_TYPE=classic)'],
  [rabbitMqRefusals(PARTS), '',      CHANNELS,                                   'channels',              "its user's limits (rabbitmqctl list_user_limits)"],
  [rabbitMqRefusals(PARTS), '',      ACCESS,                                     'user name or password', 'RABBITMQ_USER and RABBITMQ_PASSWORD'],
  [rabbitMqRefusals(URLS),  '',      ACCESS,                                     'user name or password', 'the login in RABBITMQ_URL'],
  [rabbitMqRefusals(URLS),  '',      ACCESS.replace('refused', 'refused using authentication mechanism EXTERNAL'), 'user that the client certificate names', 'RABBITMQ_CERT_FILE: RabbitMQ needs a user of that name (ssl_cert_login_from says which name)'],
  [rabbitMqRefusals(URLS),  '',      'SASL mechanism EXTERNAL is not provided by the server', 'login by a certificate', 'RABBITMQ_URL: auth_mechanism=external needs amqps:// there, and the plugin rabbitmq_auth_mechanism_ssl'],
  [rabbitMqRefusals(URLS),  '',      'SASL mechanism PLAIN is not provided by the server', 'login by a password', 'RABBITMQ_URL: with ?auth_mechanism=external, RABBITMQ_CERT_FILE says who logs in'],
  [rabbitMqRefusals(PARTS), '',      MAY_NOT,                                    'user',                  'what RABBITMQ_USER may do: configure, write and read (rabbitmqctl set_permissions)'],
  [rabbitMqRefusals(URLS),  '',      MAY_NOT,                                    'user',                  'what the user in RABBITMQ_URL may do: configure, write and read (rabbitmqctl set_permissions)'],
  [POSTGRES_REFUSALS,       '28P01', 'password authentication failed for user "u"', 'user name or password', 'the login in SINK'],
  [WITH_CERTIFICATE,        '28P01', 'password authentication failed for user "u"', 'user name, password or client certificate', 'the login in SINK, and the certificate in sslcert: its common name may have to be that of the user'],
  [WITH_CERTIFICATE,        '28000', 'certificate authentication failed for user "u"', 'client certificate', 'sslcert in SINK: its common name must be that of the user'],
  [POSTGRES_REFUSALS,       '3D000', 'database "none" does not exist',           'database',              'the path of SINK'],
  [POSTGRES_REFUSALS,       '28000', 'no pg_hba.conf entry for host "h", user "u", no encryption', 'connection without TLS', 'SINK: it needs ?sslmode=verify-full'],
  [POSTGRES_REFUSALS,       '',      'The server does not support SSL connections', 'connection with TLS',  'sslmode in SINK'],
  [POSTGRES_REFUSALS,       'ENOENT', "ENOENT: no such file or directory, open '/ca.pem'", 'connection with TLS', 'sslrootcert, sslcert and sslkey in SINK'],
  [POSTGRES_REFUSALS,       'ERR_OSSL_X509_KEY_VALUES_MISMATCH', 'error:05800074:x509 certificate routines::key values mismatch', 'connection with TLS', 'sslkey in SINK: it is not the key of the certificate in sslcert'],
  [POSTGRES_REFUSALS,       'ERR_OSSL_BAD_DECRYPT', 'error:1C800064:Provider routines::bad decrypt', 'connection with TLS', 'sslkey in SINK: a file with a private key in PEM form, without a passphrase'],
  [POSTGRES_REFUSALS,       'ERR_OSSL_PEM_NO_START_LINE', 'error:0480006C:PEM routines::no start line', 'connection with TLS', 'sslcert and sslkey in SINK: files in PEM form'],
  [POSTGRES_REFUSALS,       '28000', 'connection requires a valid client certificate', 'connection without a client certificate', 'sslcert and sslkey in SINK'],
  [POSTGRES_REFUSALS,       '28000', 'certificate authentication failed for user "u"', 'client certificate', 'sslcert in SINK: its common name must be that of the user'],
  [POSTGRES_REFUSALS,       '',      'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'connection without a password', 'the login in SINK'],
  [POSTGRES_REFUSALS,       '08P01', 'unsupported startup parameter: options',   'options in SINK',       'them: PgBouncer passes none on (ALTER ROLE … SET search_path = …)'],
  [POSTGRES_REFUSALS,       '42501', 'permission denied for schema public',      'user',                  'what the user in SINK may do: CREATE on its schema, or SELECT, INSERT, UPDATE on trawl_records and SELECT on trawl_schema once they exist'],
  [POSTGRES_REFUSALS,       '3F000', 'no schema has been selected to create in', 'schema',                'search_path in SINK'],
  [POSTGRES_REFUSALS,       '42P07', 'relation "trawl_records" already exists',  'schema',                'search_path in SINK: these tables do not belong to Trawl'],
])('what a server refuses is no outage: %#', async (refusals, code, said, what, check) => {
  const error = Object.assign(new Error(said), { code });
  const { thrown, asked } = await connect({ failures: Number.POSITIVE_INFINITY, error, refusals });
  expect(thrown).toBeInstanceOf(ConfigurationError);
  expect(thrown).toMatchObject({ message: `Redis at a.test:6379 refuses the ${what}: ${said}. Check ${check}` });
  expect(asked(), 'waiting mends nothing').toBe(1);
});

test.each([
  [PARTS, 'RABBITMQ_VHOST'],
  [URLS, 'the path of RABBITMQ_URL'],
])('a virtual host that is refused is told in words: %#', async (settings, check) => {
  const error = new Error(VHOST);
  const { thrown } = await connect({ failures: 1, error, refusals: rabbitMqRefusals(settings) });
  const why = 'it does not exist, its user may not use it, or it has too many connections';
  expect(thrown).toMatchObject({
    message: `Redis at a.test:6379 refuses the virtual host: ${why}. Check ${check}, and the log of RabbitMQ, which says why`,
  });
});

// biome-ignore format: a table
test.each([
  [redisRefusals(PARTS),    'Protocol error, got "H" as reply type byte. Please report this.', 'REDIS_HOST and REDIS_PORT'],
  [redisRefusals(URLS),     'Protocol error, got "H" as reply type byte. Please report this.', 'REDIS_URL'],
  [rabbitMqRefusals(PARTS), 'Frame size 1345270062 exceeds maxFrameSize 67108864', 'RABBITMQ_HOST and RABBITMQ_PORT: by default 5672, or 5671 for TLS'],
  [rabbitMqRefusals(URLS),  'Frame size 1345270062 exceeds maxFrameSize 67108864', 'RABBITMQ_URL: by default 5672, or 5671 for TLS'],
  [rabbitMqRefusals(URLS),  'a server of another kind answers there',         'RABBITMQ_URL: by default 5672, or 5671 for TLS'],
])('a web server at the address of a service is told in words: %#', async (refusals, said, check) => {
  const { thrown } = await connect({ failures: 1, error: new Error(said), refusals });
  const why = 'a server of another kind answers there';
  const message = `Redis at a.test:6379 refuses the connection: ${why}. Check the host and port in ${check}`;
  expect(thrown).toMatchObject({ message });
});

test('a command that gives up on a server that it has reached says why, and not how to reach it', async () => {
  const error = new NotNowError('it is busy');
  const { thrown } = await connect({ failures: Number.POSITIVE_INFINITY, error });
  expect(thrown).toMatchObject({ message: "Redis at a.test:6379 can't be used, after 10 attempts: it is busy" });
});

const NO_TLS =
  '4098:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../tlsany_meth.c:77:\n';
const NO_CLIENT =
  '408D:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../rec_layer_s3.c:918:SSL alert number 116\n';
const OTHER_NAME = "Hostname/IP does not match certificate's altnames: IP: 10.0.0.1 is not in the cert's list: ";

// biome-ignore format: a table
test.each([
  ['self-signed certificate in certificate chain', 'has a certificate that is not trusted: self-signed certificate in certificate chain. Name a file with its issuer (PEM): REDIS_CA_FILE=ca.pem'],
  ['unable to verify the first certificate; if the root CA is installed locally, try', 'has a certificate that is not trusted: unable to verify the first certificate. Name a file'],
  [OTHER_NAME,                'has a certificate for another name: Hostname/IP does not match'],
  ['certificate has expired', 'has a certificate that has expired: certificate has expired. Renew it'],
  [
    'certificate is not yet valid',
    "has a certificate that is not valid yet: certificate is not yet valid. Is the clock right, here and where the certificate was made?",
  ],
  [NO_CLIENT,                 'requires a client certificate: tlsv13 alert certificate required. Set REDIS_CERT_FILE and REDIS_KEY_FILE'],
  [NO_TLS,                    'speaks no TLS: wrong version number. Check REDIS_URL: redis:// is without TLS'],
])('a certificate that is not good is no outage: %#', async (said, told) => {
  const { thrown, asked } = await connect({ failures: Number.POSITIVE_INFINITY, error: new Error(said) });
  expect(thrown).toBeInstanceOf(ConfigurationError);
  expect(thrown).toMatchObject({ message: expect.stringContaining(`Redis at a.test:6379 ${told}`) });
  expect(asked(), 'waiting mends nothing').toBe(1);
});

test('an expired client certificate is distinguished from an untrusted one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'client.pem');
  const alert = (said: string): Error => new Error(`40:error:0A:SSL routines:ssl3_read_bytes:${said}:../rec.c:9:\n`);
  const refusedWith = async (pem: string, said: string): Promise<unknown> => {
    await writeFile(file, pem);
    const words = postgresTlsWords(`postgres://a/b?sslcert=${file}`);
    return (await connect({ failures: Number.POSITIVE_INFINITY, error: alert(said), words })).thrown;
  };
  const refused = 'Redis at a.test:6379 refuses the client certificate';
  expect(await refusedWith(outOfDate, 'ssl/tls alert certificate expired')).toMatchObject({
    message: expect.stringMatching(
      new RegExp(`^${refused}: .*expired\\. The one in sslcert in SINK expired at 2015-\\S+ \\S+: renew it`),
    ),
  });
  expect(await refusedWith(selfSigned.cert, 'tlsv1 alert unknown ca')).toMatchObject({
    message: expect.stringMatching(`^${refused}: tlsv1 alert unknown ca. Check sslcert in SINK: the server must trust`),
  });
});

test('a worker waits until a refused login is mended', async () => {
  const error = new Error('NOAUTH Authentication required.');
  const { thrown, lines } = await connect({
    failures: 1,
    attempts: Number.POSITIVE_INFINITY,
    error,
    refusals: redisRefusals(PARTS),
  });
  expect([thrown, lines[0]]).toEqual([
    undefined,
    'warn: Attempt 1 failed: Redis at a.test:6379: refuses the connection without a password: NOAUTH Authentication required. Check REDIS_PASSWORD, and REDIS_USER if it has users',
  ]);
});
