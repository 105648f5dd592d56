import type { Channel, ChannelModel } from 'amqplib';

/**
 * Closes a channel or a connection. Never rejects. If the connection dies meanwhile, the broker never answers, and amqplib's
 * `close` would wait for ever, but the `close` event is emitted.
 */
export async function close(live: Channel | ChannelModel): Promise<void> {
  await Promise.race([live.close().catch(() => {}), closed(live)]);
}

/** Returns whether an error is a refusal by the broker with this AMQP reply code. The broker has then closed the channel. */
export function isRefusal(error: unknown, code: number): boolean {
  return (error as { readonly code?: unknown } | null)?.code === code;
}

/** Resolves when a channel or a connection ends, in whatever way. */
export function closed(live: Channel | ChannelModel): Promise<void> {
  return new Promise((resolve) => {
    (live as NodeJS.EventEmitter).once('close', () => resolve());
  });
}
