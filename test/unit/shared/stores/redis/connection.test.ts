import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { BatchingRedis, RedisConnection, redisProblems } from '../../../../../shared/stores/redis/connection.ts';

test.each([
  ['6.2.6', 'standalone', /^Redis 6\.2\.6 is too old: expected 7\.0 or later$/],
  ['7.0.15', 'cluster', /^Redis Cluster is not supported/],
  ['7.0.15', 'sentinel', /^this is a Redis Sentinel, which keeps no data/],
])('a Redis %s in mode %s is refused', async (version, mode, said) => {
  const info = async (): Promise<string> => `# Server\r\nredis_version:${version}\r\nredis_mode:${mode}\r\n`;
  const problems = await redisProblems({ info } as unknown as Redis);
  expect(problems).toEqual([{ problem: expect.stringMatching(said), isFatal: true }]);
});

test('a server that still reads its data from disk is told from one that answers nothing', async () => {
  const answers = ['loading:1\r\nloading_eta_seconds:1', 'loading:0'];
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      const asked = String(data).toLowerCase().split('info').length - 1;
      for (let n = 0; n < asked; n++) {
        const info = answers.shift() ?? '';
        socket.write(`$${info.length}\r\n${info}\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const redis = new BatchingRedis(`redis://127.0.0.1:${port}`, {
    lazyConnect: true,
    maxLoadingRetryTime: 500,
    disableClientInfo: true,
  });
  onTestFinished(() => {
    redis.disconnect();
    server.close();
  });
  const connecting = redis.connect();
  await expect.poll(() => redis.isLoading).toBe(true);
  await connecting;
  expect(redis.isLoading).toBe(false);
});

test('a server that closes the connection while its configuration is asked for is not connected', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, name = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        const info = 'redis_version:7.0.15\r\nredis_mode:standalone\r\nloading:0\r\n';
        if (/^info$/i.test(name)) socket.write(`$${info.length}\r\n${info}\r\n`);
        else if (/^config$/i.test(name)) socket.destroy();
        else socket.write('+OK\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const connection = new RedisConnection(`redis://127.0.0.1:${port}`, 'a test', {
    events: { lost: () => {}, restored: () => {} },
  });
  onTestFinished(() => connection.close());
  await expect(connection.connect()).rejects.toThrow('Connection is closed.');
});
