import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Redis, ReplyError } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { NotNowError } from '../../../../../shared/runtime/errors.ts';
import { BatchingRedis } from '../../../../../shared/stores/redis/client/batching-redis.ts';
import { RedisConnection, type RedisEvents } from '../../../../../shared/stores/redis/connection.ts';
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

test.each([
  ['noeviction', []],
  ['allkeys-lru', [{ problem: expect.stringMatching(/^Redis may evict keys .* allkeys-lru/), isFatal: true }]],
])('a service that hides its configuration may keep %s or not', async (policy, problems) => {
  const info = async (): Promise<string> =>
    `redis_version:7.0.15\r\nredis_mode:standalone\r\nmaxmemory_policy:${policy}\r\n`;
  const config = async (): Promise<never> => {
    throw new ReplyError("ERR unknown command 'config'");
  };
  const hidden = { problem: expect.stringMatching(/make sure that appendonly is yes$/), isFatal: false };
  expect(await redisProblems({ info, config } as unknown as Redis)).toEqual(problems.length > 0 ? problems : [hidden]);
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
    greeting,
  }: {
    waitsForWrites?: boolean;
    greeting?: () => string;
    events?: Partial<RedisEvents>;
    checkRights?: (redis: Redis) => Promise<void>;
  } = {},
) {
  const { url, sockets } = await openFakeRedis(answer, greeting);
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

test.each([
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', /SCRIPT KILL/],
  ['ERR max number of clients reached', /maxclients/],
])('commands wait while the server refuses connections: %s', async (refusal, reason) => {
  const lost: string[] = [];
  const restored = Promise.withResolvers<void>();
  let refuses = false;
  const { connection, sockets } = await openServer(
    (_, socket) => {
      if (!refuses) return false;
      socket.end(`-${refusal}\r\n`);
      return true;
    },
    { waitsForWrites: true, events: { lost: (said) => lost.push(said), restored: restored.resolve } },
  );
  await connection.connect();
  refuses = true;
  sockets[0]?.destroy();
  await expect.poll(() => lost).toHaveLength(1);
  const waiting = connection.redis.set('a', 1);
  await expect.poll(() => lost.slice(2)).not.toEqual([]);
  refuses = false;
  expect(await waiting).toBe('OK');
  await restored.promise;
  expect(lost.slice(1)).toEqual(Array(lost.length - 1).fill(expect.stringMatching(reason)));
});

test('commands refused while the script of another client runs are made once it has ended', async () => {
  const lost: string[] = [];
  let refusals = 0;
  const { connection } = await openServer(
    (name, socket) => {
      // A busy server refuses all but a few commands, INFO included.
      if (refusals > 2 || !['set', 'info'].includes(name) || (name === 'info' && refusals === 0)) return false;
      refusals++;
      return socket.write('-BUSY Redis is busy running a script.\r\n');
    },
    { waitsForWrites: true, events: { lost: (said) => lost.push(said) } },
  );
  await connection.connect();
  expect(await connection.redis.set('a', 1)).toBe('OK');
  expect(new Set(lost)).toEqual(new Set([expect.stringMatching(/SCRIPT KILL/)]));
});

test.each([
  ['BUSY Redis is busy running a script.', /^it is busy with another client's script/],
  ['ERR max number of clients reached', /^it has as many connections as it may/],
])(
  'a server that refuses the first connection for now is told from one that is not there: %s',
  async (refusal, reason) => {
    const { connection } = await openServer((_, socket) => {
      socket.end(`-${refusal}\r\n`);
      return true;
    });
    const thrown = await connection.connect().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(NotNowError);
    expect(String(thrown)).toMatch(new RegExp(reason.source.slice(1)));
  },
);

test('why a server closes new connections is told, even if it closes them before the client has read that', async () => {
  const lost: string[] = [];
  let refuses = false;
  const { connection, sockets } = await openServer(
    (_, socket) => {
      if (refuses) socket.resetAndDestroy();
      return refuses;
    },
    {
      events: { lost: (said) => lost.push(said) },
      greeting: () => (refuses ? '-ERR max number of clients reached\r\n' : ''),
    },
  );
  await connection.connect();
  refuses = true;
  sockets[0]?.resetAndDestroy();
  await expect.poll(() => lost).toContainEqual(expect.stringMatching(/^it has as many connections as it may/));
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

test('a server that is loading its data is given up for now after some seconds, and one that hangs after that is not taken for it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isLoading = true;
  let asked = 0;
  const info = 'loading:1\r\nloading_eta_seconds:60\r\n';
  const { connection } = await openServer((name, socket) => {
    if (name !== 'info') return false;
    asked++;
    if (isLoading) socket.write(`$${info.length}\r\n${info}\r\n`);
    return true;
  });
  const advance = async (ms: number): Promise<void> => {
    vi.advanceTimersByTime(ms);
    await new Promise(setImmediate);
  };
  const first = connection.connect().catch((error: unknown) => error);
  const { redis } = connection;
  await expect.poll(() => redis instanceof BatchingRedis && redis.isLoading).toBe(true);
  await advance(5_000);
  expect(await first).toEqual(new NotNowError('it is still loading its data'));
  isLoading = false;
  const second = connection.connect().catch((error: unknown) => error);
  await expect.poll(() => asked).toBe(2);
  for (let at = 0; at < 4; at++) await advance(5_000);
  expect(String(await second)).toContain('no answer for 15 s');
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
