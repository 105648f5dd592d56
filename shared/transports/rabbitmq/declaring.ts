import type { Channel, ChannelModel } from 'amqplib';
import { ConfigurationError } from '../../runtime/errors.ts';
import { close, isRefusal } from './closing.ts';
import { isOutOfChannels, reasonOf } from './recovering-connection.ts';
import type { QueueDeclaration } from './topology.ts';

/** The name is taken by a declaration with different arguments. */
const PRECONDITION_FAILED = 406;
const NOT_FOUND = 404;
/** A routing key that nothing is bound by, so that unbinding it has no effect, but requires the rights. */
const KEY_OF_NOTHING = 'rights';

/**
 * Declares the topology on a separate channel, so that a refusal closes nothing else. Also rejects if the user may not write to
 * one of the exchanges, which the broker would otherwise report only on publishing, by closing the channel.
 *
 * @throws ConfigurationError if one of the names is taken by something else; nothing is ever deleted
 */
export async function declare(model: ChannelModel, queues: readonly QueueDeclaration[]): Promise<void> {
  await onOwnChannel(model, async (channel) => {
    for (const each of queues) await declareOne(channel, each);
    await checkWriting(channel, queues);
  });
}

/** Rejects in the same cases as {@link declare}, but skips queues and exchanges that don't exist. */
export async function checkDeclared(model: ChannelModel, queues: readonly QueueDeclaration[]): Promise<void> {
  const isThere = (look: (channel: Channel) => Promise<unknown>): Promise<boolean> =>
    onOwnChannel(model, look).then(
      () => true,
      (error: unknown) => {
        if (isRefusal(error, NOT_FOUND)) return false;
        throw error;
      },
    );
  for (const each of queues) {
    const { exchange, name } = each;
    const hasExchange = await isThere((channel) => channel.checkExchange(exchange));
    const hasQueue = await isThere((channel) => channel.checkQueue(name));
    await onOwnChannel(model, (channel) => declareOne(channel, each, { hasExchange, hasQueue }));
  }
  await isThere((channel) => checkWriting(channel, queues));
}

/** Channels that a worker has on its connection for consuming: one for each work queue, and one to look at queues. */
const WORKER_CHANNELS = 3;

/** Rejects if a worker's connection would: for too few channels, and in the cases of {@link checkDeclared}. */
export async function checkAsWorker(model: ChannelModel, queues: readonly QueueDeclaration[]): Promise<void> {
  const channels: Channel[] = [];
  try {
    while (channels.length < WORKER_CHANNELS) channels.push(await model.createChannel());
  } catch (error: unknown) {
    throw isOutOfChannels(error)
      ? new ConfigurationError([`${reasonOf(error)}. A worker needs ${WORKER_CHANNELS}`], { cause: error })
      : error;
  }
  for (const channel of channels) await close(channel);
  await checkDeclared(model, queues);
}

/** Declares a queue with its exchange and binding, or only those parts of it that are asked for. */
async function declareOne(
  channel: Channel,
  declaration: QueueDeclaration,
  { hasExchange, hasQueue } = { hasExchange: true, hasQueue: true },
): Promise<void> {
  const { name, exchange, routingKey, arguments: args } = declaration;
  try {
    if (hasExchange) await channel.assertExchange(exchange, 'direct', { durable: true });
    if (hasQueue) await channel.assertQueue(name, { durable: true, arguments: args });
    if (hasExchange && hasQueue) await channel.bindQueue(name, exchange, routingKey);
  } catch (error: unknown) {
    throw isRefusal(error, PRECONDITION_FAILED)
      ? new ConfigurationError([refusalOf(error, name)], { cause: error })
      : error;
  }
}

/** Checks the right to write by unbinding exchanges: that requires writing to the one and reading from the other. */
async function checkWriting(channel: Channel, queues: readonly QueueDeclaration[]): Promise<void> {
  const exchanges = [...new Set(queues.map(({ exchange }) => exchange))];
  for (const [index, exchange] of exchanges.entries()) {
    const other = exchanges.at(index - 1) ?? exchange;
    await channel.unbindExchange(exchange, other, KEY_OF_NOTHING);
  }
}

async function onOwnChannel(model: ChannelModel, use: (channel: Channel) => Promise<unknown>): Promise<void> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  try {
    await use(channel);
  } finally {
    await close(channel);
  }
}

/** Says why a queue or exchange can't be declared, and what to do about it. */
export function refusalOf(error: unknown, name: string): string {
  const reason = reasonOf(error);
  // No other queue is in the way, and another prefix doesn't help.
  if (/queue limit in (?:vhost|virtual host)/.test(reason))
    return `queue ${name}: ${reason}. Raise the limit (rabbitmqctl set_vhost_limits, max-queues), or use another virtual host.`;
  const [, argument, kind, which] = /inequivalent arg '([^']+)' for (\w+) '([^']+)'/.exec(reason) ?? [];
  const [, comparison = ''] = reason.split(' received ', 2);
  const [wanted, current] = comparison.split(' but current is ', 2);
  const what =
    argument === undefined || current === undefined
      ? `queue ${name}: ${reason}`
      : `${kind} ${which}: expected ${argument} to be ${wanted}, found ${current.replace(/"$/, '')}`;
  return `${what}. Set QUEUE_PREFIX to use other names, or delete it once it is empty.`;
}
