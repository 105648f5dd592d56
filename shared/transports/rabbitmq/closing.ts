import type { Channel, ChannelModel } from 'amqplib';

/**
 * Closes a channel or a connection, and never rejects. If it dies meanwhile, its close is never answered, and amqplib would
 * wait for ever; but it emits `close`.
 */
export async function close(live: Channel | ChannelModel): Promise<void> {
  await Promise.race([live.close().catch(() => {}), closed(live)]);
}

/** Has the broker refused something with this reply code of AMQP? It has closed the channel then. */
export function isRefusal(error: unknown, code: number): boolean {
  return (error as { readonly code?: unknown } | null)?.code === code;
}

/** Resolves once a channel or a connection has ended, in whatever way. */
export function closed(live: Channel | ChannelModel): Promise<void> {
  return new Promise((resolve) => {
    (live as NodeJS.EventEmitter).once('close', () => resolve());
  });
}
