import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { tryCacheRedis } from '../../../../../shared/stores/redis/cache/cache-connection.ts';
import { RedisConnection } from '../../../../../shared/stores/redis/connection.ts';
import { selfSigned } from '../../../../support/site/certificate.ts';

/** A server that records the names that clients ask for. */
async function openServer(): Promise<{ readonly port: number; readonly names: readonly string[] }> {
  const names: string[] = [];
  const server = createServer({
    ...selfSigned,
    SNICallback: (name, answer) => {
      names.push(name);
      answer(null);
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, names };
}

async function connect(url: string): Promise<void> {
  const connection = new RedisConnection(url, 'a test', { events: { lost: () => {}, restored: () => {} } });
  onTestFinished(() => connection.close());
  await connection.connect();
}

test('the TLS handshake names the server, since many may share an address', async () => {
  const { port, names } = await openServer();
  for (const attempt of [connect, (url: string) => tryCacheRedis(url, 'a test')]) {
    await expect(attempt(`rediss://localhost:${port}`)).rejects.toThrow('self-signed certificate');
    await expect(attempt(`rediss://127.0.0.1:${port}`), 'an address is no name').rejects.toThrow('self-signed');
  }
  expect(names).toEqual(['localhost', 'localhost']);
});
