import { expect, onTestFinished, test, vi } from 'vitest';
import { FleetLink } from '../../../../../services/api/link.ts';
import { UnavailableError } from '../../../../../shared/runtime/errors.ts';
import { silentLog } from '../../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../../shared/settings/settings.ts';
import { openFakeRedis } from '../../../../support/stores/fake-redis.ts';

test('a Redis that hangs is named as not answering; further requests are refused at once until it answers again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isHanging = false;
  const { url, sockets } = await openFakeRedis(() => isHanging);
  const environment = { REDIS_URL: url, RABBITMQ_URL: 'amqp://127.0.0.1:1' };
  const link = new FleetLink({ settings: settingsFrom({ flag: {}, environment, file: {} }), log: silentLog });
  await link.start();
  onTestFinished(() => link.stop());
  await expect.poll(() => link.away).toEqual(['RabbitMQ is away']);
  isHanging = true;
  const refused = new UnavailableError('Redis does not answer');
  const asked = [{}, { takesLong: true }].map((how) =>
    expect(link.withStores(() => new Promise(() => {}), how)).rejects.toEqual(refused),
  );
  for (let seconds = 1; seconds <= 5; seconds++) {
    vi.advanceTimersByTime(1_000);
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  expect(link.away).toEqual(['Redis does not answer', 'RabbitMQ is away']);
  let isAsked = false;
  const ask = async (): Promise<void> => {
    isAsked = true;
  };
  await expect(link.withStores(ask)).rejects.toEqual(refused);
  expect(isAsked).toBe(false);
  sockets[0]?.write('+PONG\r\n');
  await expect.poll(() => link.away).toEqual(['RabbitMQ is away']);
});
