import type { Settings } from '../settings/table.ts';
import { grantOf } from '../stores/redis/rights/least-rights.ts';
import type { Refusal } from './attempts.ts';
import { OTHER_ANSWERS } from './tls-probe.ts';
import type { TlsWords } from './tls-words.ts';

/** Returns Redis' answers to a wrong or missing login, a missing right or database, each with the settings to check. */
export function redisRefusals({ redisUrl, keyPrefix }: Settings): readonly Refusal[] {
  const number = redisUrl === undefined ? 'REDIS_DB' : 'the number in REDIS_URL';
  const address = `the host and port in ${redisUrl === undefined ? 'REDIS_HOST and REDIS_PORT' : 'REDIS_URL'}`;
  const check = redisUrl === undefined ? 'REDIS_PASSWORD, and REDIS_USER if it has users' : 'the login in REDIS_URL';
  return [
    [/^\S* ?(WRONGPASS|ERR invalid password)/, 'user name or password', check],
    [/NOAUTH/, 'connection without a password', check],
    [
      /NOPERM/,
      'user',
      `what ${redisUrl === undefined ? 'REDIS_USER' : 'the user in REDIS_URL'} may do. Grant it: ${grantOf(keyPrefix)}`,
    ],
    [
      /SELECT is not allowed in cluster mode/,
      'database',
      `${number}. But Redis Cluster is not supported: use a single Redis`,
    ],
    [
      /unknown command '?select/i,
      'database',
      `${number}. A Redis Sentinel has none, and keeps no data: name the Redis itself`,
    ],
    [/DB index is out of range/, 'database', number],
    [/^ RabbitMQ answers there$/, 'connection', address],
    [/unknown command/i, 'command', 'rename-command in its configuration: Trawl needs this command'],
    [/Protocol error, got/, 'connection', address, OTHER_ANSWERS],
  ];
}

/** Returns the same for RabbitMQ. */
export function rabbitMqRefusals({ rabbitmqUrl }: Settings): readonly Refusal[] {
  const inUrl = rabbitmqUrl !== undefined;
  const address = `the host and port in ${inUrl ? 'RABBITMQ_URL' : 'RABBITMQ_HOST and RABBITMQ_PORT'}: by default 5672, or 5671 for TLS`;
  const user = inUrl ? 'the user in RABBITMQ_URL' : 'RABBITMQ_USER';
  return [
    [/^ (?:Redis|a server of another kind) answers there$/, 'connection', address],
    [/^\S* ?Frame size \d+ exceeds/, 'connection', address, OTHER_ANSWERS],
    [/number of channels opened for user/, 'channels', "its user's limits (rabbitmqctl list_user_limits)"],
    [
      /the corresponding feature flag is disabled/,
      'queue type',
      'its feature flags: rabbitmqctl enable_feature_flag all (or set QUEUE_TYPE=classic)',
    ],
    // The login itself has succeeded.
    [
      / access to \w+ '[^']*' in vhost '[^']*' refused for user/,
      'user',
      `what ${user} may do: configure, write and read (rabbitmqctl set_permissions)`,
    ],
    [
      /mechanism EXTERNAL is not provided/,
      'login by a certificate',
      'RABBITMQ_URL: auth_mechanism=external needs amqps:// there, and the plugin rabbitmq_auth_mechanism_ssl',
    ],
    [
      /mechanism PLAIN is not provided/,
      'login by a password',
      'RABBITMQ_URL: with ?auth_mechanism=external, RABBITMQ_CERT_FILE says who logs in',
    ],
    [
      /mechanism EXTERNAL/,
      'user that the client certificate names',
      'RABBITMQ_CERT_FILE: RabbitMQ needs a user of that name (ssl_cert_login_from says which name)',
    ],
    [
      /ACCESS[_-]REFUSED/,
      'user name or password',
      inUrl ? 'the login in RABBITMQ_URL' : 'RABBITMQ_USER and RABBITMQ_PASSWORD',
    ],
    // amqplib 2 does not pass on the reason: no such virtual host, not for this user, or too many connections.
    [
      /Expected ConnectionOpenOk; got <ConnectionClose/,
      'virtual host',
      `${inUrl ? 'the path of RABBITMQ_URL' : 'RABBITMQ_VHOST'}, and the log of RabbitMQ, which says why`,
      'it does not exist, its user may not use it, or it has too many connections',
    ],
  ];
}

const RIGHTS =
  'what the user in SINK may do: CREATE on its schema, or SELECT, INSERT, UPDATE on trawl_records and SELECT on trawl_schema once they exist';

/** Returns the same for Postgres, by its error codes. */
export function postgresRefusals({ certFile }: TlsWords): readonly Refusal[] {
  if (certFile === undefined) return POSTGRES_REFUSALS;
  // With clientcert=verify-full, Postgres reports a wrong password even if the certificate is wrong.
  const login = 'the login in SINK, and the certificate in sslcert: its common name may have to be that of the user';
  return [[/^28P01/, 'user name, password or client certificate', login], ...POSTGRES_REFUSALS];
}

const POSTGRES_REFUSALS: readonly Refusal[] = [
  [/^28000 .*no encryption/, 'connection without TLS', 'SINK: it needs ?sslmode=verify-full'],
  [/does not support SSL/, 'connection with TLS', 'sslmode in SINK'],
  // The client reads these files again for each connection. The pattern doesn't match the error for a missing socket.
  [/^E[A-Z]+ .*, open '/, 'connection with TLS', 'sslrootcert, sslcert and sslkey in SINK'],
  [
    /^ERR_OSSL_X509_KEY_VALUES_MISMATCH/,
    'connection with TLS',
    'sslkey in SINK: it is not the key of the certificate in sslcert',
  ],
  [
    /^ERR_(?:OSSL_(?:BAD_DECRYPT|UNSUPPORTED)|MISSING_PASSPHRASE)/,
    'connection with TLS',
    'sslkey in SINK: a file with a private key in PEM form, without a passphrase',
  ],
  [/^ERR_OSSL_PEM_/, 'connection with TLS', 'sslcert and sslkey in SINK: files in PEM form'],
  [/^28000 .*valid client certificate/, 'connection without a client certificate', 'sslcert and sslkey in SINK'],
  [
    /^28000 certificate authentication failed/,
    'client certificate',
    'sslcert in SINK: its common name must be that of the user',
  ],
  [/client password must be/, 'connection without a password', 'the login in SINK'],
  [
    /unsupported startup parameter/,
    'options in SINK',
    'them: PgBouncer passes none on (ALTER ROLE … SET search_path = …)',
  ],
  [/^42501/, 'user', RIGHTS],
  [/^3F000/, 'schema', 'search_path in SINK'],
  [/^42P07/, 'schema', 'search_path in SINK: these tables do not belong to Trawl'],
  [/^28/, 'user name or password', 'the login in SINK'],
  [/^3D000/, 'database', 'the path of SINK'],
];
