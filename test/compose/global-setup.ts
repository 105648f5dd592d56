import { docker } from './stack.ts';

/** Oldest version of Compose with an optional `env_file`. */
const OLDEST = '2.24';

/** Fails early with what is missing, instead of in a test. */
export async function setup(): Promise<void> {
  const has = async (...args: string[]): Promise<string> =>
    await docker(args).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
  if ((await has('info', '--format', '{{.ServerVersion}}')) === '')
    throw new Error('The Compose test needs a Docker engine, and `docker info` found none running.');
  const version = await has('compose', 'version', '--short');
  if (version.replace(/^v/, '').localeCompare(OLDEST, undefined, { numeric: true }) < 0)
    throw new Error(`The Compose test needs docker compose ${OLDEST} or newer, and found ${version || 'none'}.`);
}
