import { connect } from 'amqplib';
import { inject, onTestFinished } from 'vitest';
import { topology } from '../../../../shared/transports/rabbitmq/topology.ts';
import type { RabbitMqOptions, RabbitMqTransport } from '../../../../shared/transports/rabbitmq/transport.ts';
import { TcpProxy } from '../../../support/proxies/tcp-proxy.ts';
import { deleteTopology, testTransport, uniquePrefix } from '../../../support/stores/rabbitmq.ts';

export const URL_GIVEN = inject('rabbitmqUrl');

/** Records what a transport reports about its connection. */
export class Told {
  readonly lost: string[] = [];
  restored = 0;
  #waiters: (() => void)[] = [];

  readonly options: Pick<RabbitMqOptions, 'onLost' | 'onRestored' | 'onBlocked'> = {
    onLost: (reason) => this.lost.push(reason),
    onRestored: () => {
      this.restored++;
      for (const wake of this.#waiters.splice(0)) wake();
    },
    onBlocked: () => {},
  };

  /** Resolves when the transport has been restored this many times in all. */
  async isBack(times: number): Promise<void> {
    while (this.restored < times) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }
}

/** Deletes the normal queue and declares it again at once. */
export async function declaredAgain(prefix: string): Promise<void> {
  const connection = await connect(URL_GIVEN);
  const channel = await connection.createChannel();
  const { arguments: args } = topology(prefix, 'quorum').find(({ destination }) => destination === 'normal') ?? {};
  await channel.deleteQueue(`${prefix}url_queue_ttl`);
  await channel.assertQueue(`${prefix}url_queue_ttl`, { durable: true, arguments: args });
  await channel.bindQueue(`${prefix}url_queue_ttl`, `${prefix}crawl`, 'normal');
  await connection.close();
}

export async function setup(options: Partial<RabbitMqOptions> = {}): Promise<{
  transport: RabbitMqTransport;
  proxy: TcpProxy;
  told: Told;
  prefix: string;
}> {
  const { hostname, port } = new URL(URL_GIVEN);
  const proxy = new TcpProxy({ host: hostname, port: Number(port || 5672) });
  await proxy.start();
  const url = new URL(URL_GIVEN);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const prefix = uniquePrefix();
  const told = new Told();
  const transport = testTransport(url.href, prefix, { ...told.options, ...options });
  await transport.start();
  onTestFinished(async () => {
    await transport.stop();
    await proxy.stop();
    await deleteTopology(URL_GIVEN, prefix);
  });
  return { transport, proxy, told, prefix };
}
