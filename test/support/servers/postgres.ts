import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pRetry from 'p-retry';
import pg from 'pg';
import { loadContainers } from './containers.ts';
import { installPackages } from './debian.ts';
import { freePort, tryRun, which } from './machine.ts';

/** A Postgres for the suites to use as they like. */
export interface PostgresServer {
  readonly rung: 'given' | 'containers' | 'programs';
  readonly postgresUrl: string;
  stop(): Promise<void>;
}

const IMAGE = 'postgres:17';
const [USER, PASSWORD, DATABASE] = ['trawl', 'trawl-password', 'postgres'];

/**
 * Finds a Postgres, and never skips silently. Takes the first rung that works; `TEST_SERVERS` names one of the last two:
 *
 * | rung         | when                                                                                     |
 * |--------------|------------------------------------------------------------------------------------------|
 * | `given`      | `TEST_POSTGRES_URL` is set                                                               |
 * | `containers` | a Docker engine answers and has the image of the compose file                            |
 * | `programs`   | `initdb` and `postgres` are installed; as root on Debian they are installed              |
 */
export async function startPostgres(): Promise<PostgresServer> {
  const server = await choosePostgres();
  try {
    await pRetry(() => canConnect(server.postgresUrl), { retries: 240, factor: 1, minTimeout: 250 });
  } catch (error: unknown) {
    await server.stop();
    throw error;
  }
  return server;
}

async function choosePostgres(): Promise<PostgresServer> {
  const { TEST_POSTGRES_URL, TEST_SERVERS } = process.env;
  if (TEST_POSTGRES_URL !== undefined) return { rung: 'given', postgresUrl: TEST_POSTGRES_URL, stop: async () => {} };
  if (TEST_SERVERS !== 'programs' && tryRun('docker', ['image', 'inspect', IMAGE]) !== undefined)
    return await startContainer();
  if (TEST_SERVERS === 'containers') throw new Error(`No Docker engine with the image ${IMAGE} answers.`);
  const programs = findPrograms() ?? installPrograms();
  if (programs !== undefined) return await startPrograms(programs);
  throw new Error(
    [
      'The tests need a Postgres, and found none. One of these helps:',
      '  sudo apt-get install postgresql',
      `  docker pull ${IMAGE}`,
      '  TEST_POSTGRES_URL=postgres://… npm test',
    ].join('\n'),
  );
}

async function startContainer(): Promise<PostgresServer> {
  const { GenericContainer, Wait } = await loadContainers();
  const container = await new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_USER: USER, POSTGRES_PASSWORD: PASSWORD, POSTGRES_DB: DATABASE })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  return {
    rung: 'containers',
    postgresUrl: urlOf(container.getHost(), container.getMappedPort(5432)),
    stop: async () => void (await container.stop()),
  };
}

/** Returns the folder of the newest Postgres with both programs. */
function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const onPath = which('initdb')?.replace(/\/initdb$/, '');
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(onPath === undefined ? [] : [onPath]),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))));
}

function installPrograms(): string | undefined {
  installPackages('postgresql');
  return findPrograms();
}

/** Starts a private one on a free port, with its data in a temporary folder. Postgres refuses to run as root, so then another user runs it. */
async function startPrograms(programs: string): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-postgres-'));
  const owner = process.getuid?.() === 0 ? somebodyElse() : undefined;
  const port = await freePort();
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    await stopChild(server);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await writeFile(join(folder, 'password'), PASSWORD);
    if (owner !== undefined) {
      for (const path of [folder, join(folder, 'password')]) await chown(path, owner.uid, owner.gid);
    }
    const data = join(folder, 'data');
    const options = ['-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`];
    execFileSync(join(programs, 'initdb'), [...options, '--encoding=UTF8', '--locale=C', '--no-sync'], {
      ...owner,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off'];
    server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      ...owner,
      cwd: folder,
      stdio: 'ignore',
    });
  } catch (error: unknown) {
    await stop();
    throw error;
  }
  return { rung: 'programs', postgresUrl: urlOf('127.0.0.1', port), stop };
}

function somebodyElse(): { readonly uid: number; readonly gid: number } {
  const name = tryRun('id', ['-u', 'postgres']) === undefined ? 'nobody' : 'postgres';
  return { uid: Number(tryRun('id', ['-u', name])), gid: Number(tryRun('id', ['-g', name])) };
}

function urlOf(host: string, port: number): string {
  return `postgres://${USER}:${PASSWORD}@${host}:${port}/${DATABASE}`;
}

async function canConnect(url: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  await client.end();
}

async function stopChild(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  // Fast shutdown: cuts the remaining connections.
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGQUIT'), 10_000);
  await gone;
  clearTimeout(timer);
}
