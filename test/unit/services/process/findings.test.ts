import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { findTroubles } from '../../../../services/process/findings.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';

/** A server that accepts connections and never answers, like a stopped process or a hanging disk. */
async function silentServer(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('all services that hang are reported, within the time limit of one', async () => {
  const [redis, rabbitMq, cache, postgres] = await Promise.all([1, 2, 3, 4].map(silentServer));
  const environment = {
    REDIS_URL: `redis://${redis}`,
    RABBITMQ_URL: `amqp://${rabbitMq}`,
    CACHE_REDIS_URL: `redis://${cache}`,
    SINK: `postgres://${postgres}/crawls`,
    OUTPUT_DIR: tmpdir(),
  };
  const settings = settingsFrom({ flag: {}, environment, file: {} });
  const findings = await findTroubles({ settings, patienceMs: 300 });
  const said = new Map(findings.map(({ what, state, said: text }) => [what, `${state}: ${text}`]));
  const hangs = 'has not answered within 0.3 s: it hangs, is overloaded, or is blocked by something in between';
  expect(said.get('Redis')).toBe(`problem: Redis at ${redis} ${hangs}`);
  expect(said.get('RabbitMQ')).toBe(`problem: RabbitMQ at ${rabbitMq} ${hangs}`);
  expect(said.get('records')).toBe(`problem: Postgres at ${postgres} ${hangs}`);
  expect(said.get('response cache')).toMatch(`warning: ${cache}: it ${hangs}. Workers continue without it.`);
});
