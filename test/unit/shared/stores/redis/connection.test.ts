import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BatchingRedis, RedisConnection, type RedisEvents } from '../../../../../shared/stores/redis/connection.ts';
import { redisProblems } from '../../../../../shared/stores/redis/server-problems.ts';
import { openFakeRedis } from '../../../../support/stores/fake-redis.ts';

test.each([
  ['6.2.6', 'standalone', /^Redis 6\.2\.6 is too old: expected 7\.0 or later$/],
  ['7.0.15', 'cluster', /^Redis Cluster is not supported/],
  ['7.0.15', 'sentinel', /^this is a Redis Sentinel, which keeps no data/],
])('a Redis %s in mode %s is refused', async (version, mode, said) => {
  const info = async (): Promise<string> => `# Server\r\nredis_version:${version}\r\nredis_mode:${mode}\r\n`;
  const problems = await redisProblems({ info } as unknown as Redis);
  expect(problems).toEqual([{ problem: expect.stringMatching(said), isFatal: true }]);
});

test('a server that is still loading its data is reported differently from one that answers nothing', async () => {
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

/** A connection to a server that answers as usual, except where `answer` does something else. */
async function openServer(
  answer: (name: string, socket: Socket) => boolean,
  {
    waitsForWrites = false,
    events = {},
    checkRights,
  }: {
    waitsForWrites?: boolean;
    events?: Partial<RedisEvents>;
    checkRights?: (redis: Redis) => Promise<void>;
  } = {},
) {
  const { url, sockets } = await openFakeRedis(answer);
  const connection = new RedisConnection(url, 'a test', {
    events: { lost: () => {}, restored: () => {}, ...events },
    waitsForWrites,
    checkRights,
  });
  onTestFinished(() => connection.close());
  return { connection, sockets };
}

test('a server that closes the connection while its configuration is asked for is not connected', async () => {
  const { connection } = await openServer((name, socket) => {
    if (name === 'config') socket.destroy();
    return name === 'config';
  });
  await expect(connection.connect()).rejects.toThrow('Connection is closed.');
});

test('a command sent while reconnecting is answered, even if the server closes that connection before it is ready', async () => {
  const { connection, sockets } = await openServer((_, socket) => socket === sockets[1]);
  await connection.connect();
  sockets[0]?.destroy();
  await expect.poll(() => sockets.length).toBe(2);
  await expect.poll(() => connection.redis.status).toBe('connect');
  const asked = connection.redis.info('memory');
  sockets[1]?.destroy();
  expect(await asked).toContain('redis_version');
});

test('many writes refused at once break the connection once, and all are made once the server takes writes', async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { connection, sockets } = await openServer(
    (name, socket) => {
      if (name === 'set' && socket === sockets[0])
        return socket.write('-NOREPLICAS Not enough good replicas to write.\r\n');
      return false;
    },
    { waitsForWrites: true },
  );
  await connection.connect();
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => connection.redis.set(`key ${n}`, n)));
  expect(answers).toEqual(Array(50).fill('OK'));
  expect(sockets).toHaveLength(2);
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('a script whose user has lost a right waits until it is granted again, and the missing right is named', async () => {
  const lost: string[] = [];
  const restored = Promise.withResolvers<void>();
  let mayWrite = false;
  const { connection } = await openServer(
    (name, socket) => {
      if (name !== 'evalsha' || mayWrite) return false;
      return socket.write('-NORIGHTS HSET\r\n');
    },
    {
      waitsForWrites: true,
      events: {
        lost: (reason) => {
          lost.push(reason);
          if (lost.length === 2) mayWrite = true;
        },
        restored: restored.resolve,
      },
      checkRights: async () => {
        if (!mayWrite) throw new Error('the user lacks HSET');
      },
    },
  );
  await connection.connect();
  expect(await connection.redis.evalsha('0', 0)).toBe('OK');
  await restored.promise;
  expect(lost.slice(0, 2)).toEqual(['its user lacks a right', 'it has changed: the user lacks HSET']);
});

test('a server that hangs counts as silent after some seconds, before the connection is dropped, and can answer again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isHanging = false;
  let pings = 0;
  const told: string[] = [];
  const note = (what: string) => (): void => void told.push(what);
  const events = { lost: note('lost'), silent: note('silent'), answering: note('answering') };
  const { connection, sockets } = await openServer(
    (name) => {
      if (name === 'ping') pings++;
      return name === 'ping' && isHanging;
    },
    { events },
  );
  await connection.connect();
  vi.advanceTimersByTime(1_000);
  await expect.poll(() => pings).toBe(1);
  await expect.poll(() => connection.redis.ping().then(() => pings)).toBe(2);
  isHanging = true;
  for (let seconds = 1; seconds <= 3; seconds++) {
    vi.advanceTimersByTime(1_000);
    await new Promise(setImmediate);
  }
  expect(told, 'it was asked two seconds ago').toEqual([]);
  vi.advanceTimersByTime(1_000);
  await expect.poll(() => told).toEqual(['silent']);
  sockets[0]?.write('+PONG\r\n');
  await expect.poll(() => told).toEqual(['silent', 'answering']);
});

test('why the connection was lost the last time is not said of the next time', async () => {
  const said: string[] = [];
  const { connection, sockets } = await openServer(() => false, {
    events: { lost: (reason) => said.push(reason), restored: () => said.push('restored') },
  });
  await connection.connect();
  sockets.at(-1)?.resetAndDestroy();
  await expect.poll(() => said).toEqual(['read ECONNRESET', 'restored']);
  sockets.at(-1)?.destroy();
  await expect.poll(() => said).toEqual(['read ECONNRESET', 'restored', 'the connection was closed', 'restored']);
});
