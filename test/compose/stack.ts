import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '../support/servers/machine.ts';

/** The checkout, where docker-compose.yml is. */
export const CHECKOUT = join(import.meta.dirname, '../..');

/** The output and exit code of a program. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Expected exit codes; default: 0. */
  readonly codes?: readonly number[];
}

/** A container in the output of `docker compose ps`. */
export interface ContainerLine {
  readonly Name: string;
  readonly State: string;
  readonly Health: string;
}

/** The part of the output of `docker compose config` that tests use. */
export interface Config {
  readonly services: Readonly<
    Record<string, { readonly environment: Readonly<Record<string, string>>; readonly logging?: unknown }>
  >;
}

/** The project's compose file under a unique project name, on free ports, together with the site of `site.yml`. */
export class Stack {
  readonly project: string;
  /** Ports published on 127.0.0.1, of RabbitMQ's UI and the API. */
  readonly ports: { readonly ui: number; readonly api: number };
  readonly #env: Readonly<Record<string, string>>;

  private constructor(project: string, ports: Stack['ports'], env: Readonly<Record<string, string>>) {
    this.project = project;
    this.ports = ports;
    this.#env = env;
  }

  static async open(env: Readonly<Record<string, string>>): Promise<Stack> {
    const [amqp, ui, redis, api] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const ports = { PUBLISH_AMQP_PORT: amqp, PUBLISH_UI_PORT: ui, PUBLISH_REDIS_PORT: redis, PUBLISH_API_PORT: api };
    const texts = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
    return new Stack(`trawl-test-${process.pid}`, { ui, api }, { ...texts, ...env });
  }

  /** Runs `docker compose …`. */
  async compose(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const files = ['-f', 'docker-compose.yml', '-f', 'test/compose/site.yml'];
    return await docker(['compose', '-p', this.project, ...files, ...args], {
      ...options,
      env: { ...this.#env, ...options.env },
    });
  }

  /** Returns the resolved Compose file with these variables in the shell. */
  async config(env: Readonly<Record<string, string>>): Promise<Config> {
    const { stdout } = await this.compose(['--profile', '*', 'config', '--format', 'json'], { env });
    return JSON.parse(stdout);
  }

  /** Runs `trawl …` in a worker's container, and returns its JSON output. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed
  async trawl(...args: readonly string[]): Promise<any> {
    const { stdout } = await this.compose(['exec', '-T', 'scraper', 'trawl', ...args, '--json']);
    return JSON.parse(stdout);
  }

  /** Runs a producer in its own container, and returns its JSON output. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed
  async produce(args: readonly string[], input?: string): Promise<any> {
    const options = input === undefined ? {} : { input };
    const { stdout } = await this.compose(['run', '--rm', '-T', 'producer', ...args, '--json'], options);
    return JSON.parse(stdout);
  }

  async redis(...args: readonly string[]): Promise<string> {
    return (await this.compose(['exec', '-T', 'redis', 'redis-cli', ...args])).stdout.trim();
  }

  /** Returns how often each path of the site was requested. */
  async requests(): Promise<Readonly<Record<string, number>>> {
    const script = "fetch('http://site:8080/requests').then((r) => r.text()).then(console.log)";
    return JSON.parse((await this.compose(['exec', '-T', 'site', 'node', '-e', script])).stdout);
  }

  async containers(service: string): Promise<ContainerLine[]> {
    const { stdout } = await this.compose(['ps', '--all', '--format', 'json', service]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

/** Runs `docker` in the checkout. Throws unless the exit code is an expected one. */
export async function docker(args: readonly string[], { input, env, codes = [0] }: RunOptions = {}): Promise<Ran> {
  const child = spawn('docker', args, { cwd: CHECKOUT, env: { ...process.env, ...env } });
  child.stdin.end(input);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (!codes.includes(code ?? -1)) throw new Error(`docker ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return { code, stdout, stderr };
}
