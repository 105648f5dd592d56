import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const GREETING_AFTER_MS = 50;

/**
 * Starts a fake Redis that answers a client's first commands. `answer` sees each command first, and returns `true` if it has handled it.
 * A connection that gets a `greeting` other than an empty one is closed after it. By then, a client that writes at once has written.
 */
export async function openFakeRedis(
  answer: (name: string, socket: Socket) => boolean,
  greeting = (): string => '',
): Promise<{ readonly url: string; readonly sockets: readonly Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    const said = greeting();
    if (said !== '') setTimeout(() => socket.end(said), GREETING_AFTER_MS);
    socket.on('data', (data) => {
      for (const [, name = ''] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        if (answer(name.toLowerCase(), socket)) continue;
        const info = 'redis_version:7.0.15\r\nredis_mode:standalone\r\nloading:0\r\n';
        const setting = '*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n';
        socket.write({ info: `$${info.length}\r\n${info}\r\n`, config: setting }[name.toLowerCase()] ?? '+OK\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `redis://127.0.0.1:${port}`, sockets };
}
