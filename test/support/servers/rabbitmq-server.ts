import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { tryRun, which } from './machine.ts';
import { ServerProcess } from './server-process.ts';

interface RabbitMqServerOptions {
  readonly program: string;
  /** Folder for everything it writes: data, logs, its cookie. */
  readonly folder: string;
  readonly amqpPort: number;
  readonly distPort: number;
  readonly epmdPort: number;
  /** Additional lines of `rabbitmq.conf`. */
  readonly conf?: readonly string[];
  readonly plugins?: readonly string[];
}

/**
 * A private RabbitMQ that can be stopped, killed, frozen, and started again on the same data and port, and that runs
 * `rabbitmqctl` commands.
 */
export class RabbitMqServer {
  readonly url: string;
  readonly port: number;
  readonly #options: RabbitMqServerOptions;
  readonly #env: NodeJS.ProcessEnv;
  #process: ServerProcess | undefined;

  constructor(options: RabbitMqServerOptions) {
    const { folder, amqpPort, distPort, epmdPort } = options;
    this.#options = options;
    this.port = amqpPort;
    this.url = `amqp://guest:guest@127.0.0.1:${amqpPort}`;
    this.#env = {
      PATH: process.env.PATH,
      HOME: folder,
      LANG: 'C.UTF-8',
      ERL_EPMD_PORT: String(epmdPort),
      RABBITMQ_NODENAME: `trawl-${amqpPort}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(amqpPort),
      RABBITMQ_DIST_PORT: String(distPort),
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
      RABBITMQ_PID_FILE: join(folder, 'rabbitmq.pid'),
      RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    };
  }

  /** Resolves once a client can connect. */
  async start(): Promise<void> {
    const { program, folder, conf = [], plugins = [] } = this.#options;
    await mkdir(folder, { recursive: true });
    const lines = ['raft.wal_max_size_bytes = 64000000', 'log.file.level = warning', ...conf];
    await writeFile(join(folder, 'rabbitmq.conf'), `${lines.join('\n')}\n`);
    await writeFile(join(folder, 'enabled_plugins'), `[${plugins.join()}].\n`);
    this.#process = new ServerProcess(program, [], { env: this.#env, output: join(folder, 'output.log') });
    await this.#process.answers(async () => await (await connect(this.url)).close());
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Freezes the process: it answers nothing, and its connections stay open. */
  hang(): void {
    this.#process?.signal('SIGSTOP');
  }

  goOn(): void {
    this.#process?.signal('SIGCONT');
  }

  /** Runs `rabbitmqctl` and returns what it printed. */
  async ctl(...args: string[]): Promise<string> {
    const beside = join(dirname(this.#options.program), 'rabbitmqctl');
    const { stdout } = await promisify(execFile)(beside, ['--quiet', ...args], { env: this.#env });
    return stdout;
  }

  /** Stops it for good, with the name server (epmd) that it started. */
  async remove(): Promise<void> {
    this.goOn();
    await this.stop();
    if (which('epmd') !== undefined) tryRun('epmd', ['-port', String(this.#options.epmdPort), '-kill']);
  }
}
