import { parse } from 'dotenv';
import { ConfigurationError } from '../runtime/errors.ts';
import { envFileText } from './env-file.ts';
import { oddLines } from './env-lines.ts';
import { nearestOf } from './nearest-name.ts';
import { SETTINGS, type SettingKey, type Settings } from './table.ts';
import { plainProblems, tlsProblems } from './tls-files.ts';

/** The layers that values come from. The first layer that has a value for a setting wins. */
const LAYERS = ['flag', 'environment', 'file'] as const;
type Layer = (typeof LAYERS)[number];

/** Unparsed values: per layer, by the name of the environment variable. */
export type Sources = Readonly<Record<Layer, Readonly<Record<string, string | undefined>>>>;

/**
 * Reads all settings: flags override the environment, which overrides `.env`. Nothing else reads a setting.
 *
 * Within one layer, a URL beats a HOST; a HOST from a higher layer beats a URL from a lower one.
 *
 * @throws ConfigurationError with every problem at once
 */
export function readSettings(flags: Readonly<Record<string, string | undefined>>): Settings {
  try {
    return settingsFrom({ flag: flags, environment: withoutServiceLinks(process.env), file: readEnvFile() });
  } catch (error: unknown) {
    if (!(error instanceof ConfigurationError)) throw error;
    // A malformed line in `.env` may be the cause of the wrong value.
    throw new ConfigurationError([...error.problems, ...oddInEnvFile()], { cause: error });
  }
}

/** Reads settings from the given sources. @throws ConfigurationError with every problem at once */
export function settingsFrom(sources: Sources): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, { name, flag, parse: parser, default: fallback, secret }] of Object.entries(SETTINGS)) {
    const layer = layerOf(sources, name);
    const given = layer === undefined ? fallback : (sources[layer][name] ?? fallback);
    const read = parser(given.trim());
    if ('value' in read) values[key] = read.value;
    else
      problems.push(
        `expected ${layer === 'flag' ? `--${flag}` : name} to be ${read.expected}, got ${secret ? 'something else' : JSON.stringify(given)}`,
      );
  }
  const settings = values as Settings;
  if (settings.keyPrefix !== '' && settings.queuePrefix === '') {
    problems.push(
      "expected QUEUE_PREFIX to be set because KEY_PREFIX is: two fleets on one broker would take each other's deliveries",
    );
  }
  if (problems.length === 0) problems.push(...tlsProblems(settings));
  const effective = withoutBeatenUrls(settings, sources);
  if (problems.length === 0)
    problems.push(...plainProblems(effective, (file, address) => isAbove(sources, address, file)));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return effective;
}

/**
 * Returns the environment without the variables that Kubernetes adds. If a service is called `redis`, each container gets
 * a `REDIS_PORT` of `tcp://10.96.0.12:6379`, which is not our setting of that name.
 */
export function withoutServiceLinks(environment: Sources['environment']): Sources['environment'] {
  const isLink = ([name, value]: [string, string | undefined]): boolean =>
    name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? '');
  return Object.fromEntries(Object.entries(environment).filter((entry) => !isLink(entry)));
}

/** All variables of `.env` and of the environment, which overrides it: the source of the `secrets` that crawlers name. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return { ...readEnvFile(), ...process.env };
}

/** Returns the User-Agent header: the one set, otherwise the program's own with the contact URL. */
export function userAgentOf({ userAgent, contactUrl }: Settings, version: string): string {
  if (userAgent !== undefined) return userAgent;
  // `href` writes the host name in ASCII, which is all that a header can hold.
  return contactUrl === undefined ? `TrawlBot/${version}` : `TrawlBot/${version} (+${new URL(contactUrl).href})`;
}

/** Returns the URL of RabbitMQ: the one set, otherwise made of the separate parts. */
export function rabbitmqUrlOf(settings: Settings): string {
  if (settings.rabbitmqUrl !== undefined) return settings.rabbitmqUrl;
  const { rabbitmqHost, rabbitmqPort, rabbitmqUser, rabbitmqPassword, rabbitmqVhost } = settings;
  const login = `${encodeURIComponent(rabbitmqUser)}:${encodeURIComponent(rabbitmqPassword)}`;
  const vhost = rabbitmqVhost === '/' ? '' : `/${encodeURIComponent(rabbitmqVhost)}`;
  return `amqp://${login}@${rabbitmqHost}:${rabbitmqPort}${vhost}`;
}

/** Returns the URL of Redis: the one set, otherwise made of the separate parts. */
export function redisUrlOf(settings: Settings): string {
  if (settings.redisUrl !== undefined) return settings.redisUrl;
  const { redisHost, redisPort, redisUser, redisPassword, redisDb } = settings;
  const hasLogin = redisUser !== '' || redisPassword !== '';
  const login = hasLogin ? `${encodeURIComponent(redisUser)}:${encodeURIComponent(redisPassword)}@` : '';
  return `redis://${login}${redisHost}:${redisPort}/${redisDb}`;
}

/** Names in `.env` that are not settings, but are read by docker-compose.yml or docker-compose.monitoring.yml. */
export const OF_COMPOSE: readonly string[] = [
  'WORKERS',
  'WORKER_MEMORY',
  'REDIS_MAXMEMORY',
  'PUBLISH_AMQP_PORT',
  'PUBLISH_UI_PORT',
  'PUBLISH_REDIS_PORT',
  'PUBLISH_POSTGRES_PORT',
  'PUBLISH_API_PORT',
  'PUBLISH_PROMETHEUS_PORT',
  'PUBLISH_GRAFANA_PORT',
  'GRAFANA_PASSWORD',
];

/** A name in `.env` that is not a setting, and the known name that it resembles, if any. */
export interface UnknownName {
  readonly name: string;
  readonly nearest: string | undefined;
}

/** Returns the names in `.env` that neither the program nor Compose reads. */
export function unknownInEnvFile(): UnknownName[] {
  const known = [...Object.values(SETTINGS).map(({ name }) => name), ...OF_COMPOSE];
  return Object.keys(readEnvFile())
    .filter((name) => !known.includes(name) && !name.startsWith('COMPOSE_'))
    .map((name) => ({ name, nearest: nearestOf(name, known) }));
}

function layerOf(sources: Sources, name: string): Layer | undefined {
  return LAYERS.find((layer) => sources[layer][name] !== undefined && sources[layer][name] !== '');
}

/** Are both settings given, the first one in a higher layer? */
function isAbove(sources: Sources, name: string, other: string): boolean {
  const [layer, otherLayer] = [layerOf(sources, name), layerOf(sources, other)];
  return layer !== undefined && otherLayer !== undefined && LAYERS.indexOf(layer) < LAYERS.indexOf(otherLayer);
}

/** Drops a URL that a HOST of a higher layer beats. */
function withoutBeatenUrls(settings: Settings, sources: Sources): Settings {
  const isBeaten = (url: SettingKey, host: SettingKey): boolean =>
    isAbove(sources, SETTINGS[host].name, SETTINGS[url].name);
  return {
    ...settings,
    rabbitmqUrl: isBeaten('rabbitmqUrl', 'rabbitmqHost') ? undefined : settings.rabbitmqUrl,
    redisUrl: isBeaten('redisUrl', 'redisHost') ? undefined : settings.redisUrl,
  };
}

/** Describes the malformed lines of `.env`, one text each. */
export function oddInEnvFile(): string[] {
  return oddLines(envFileText()).map(({ line, problem }) => `.env:${line}: ${problem}`);
}

function readEnvFile(): Record<string, string> {
  return parse(envFileText());
}
