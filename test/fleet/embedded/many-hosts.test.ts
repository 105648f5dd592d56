import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { LoopbackServer } from '../../support/listeners/loopback-server.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { freePort } from '../../support/servers/machine.ts';

const HOSTS = 400;
const OPEN_FILES = 384;

/** Starts hosts with an address each, which never close a connection first. Returns a page of each. */
async function openHosts(): Promise<string[]> {
  const port = await freePort();
  return await Promise.all(
    Array.from({ length: HOSTS }, async (_, n) => {
      const address = `127.9.${Math.floor(n / 200)}.${1 + (n % 200)}`;
      const server = createServer({ keepAliveTimeout: 0 }, ({ url }, response) => {
        response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' }).end();
      });
      const host = new LoopbackServer(server);
      server.on('connection', (socket) => host.keep(socket));
      server.listen(port, address);
      await once(server, 'listening');
      onTestFinished(() => host.stop());
      return `http://${address}:${port}/page`;
    }),
  );
}

test.each(['got', 'undici'])('%s crawls more hosts than its process may open files', async (lane) => {
  const [workplace, pages] = await Promise.all([openWorkplace(), openHosts()]);
  const args = ['crawl', '-', '--run', 'many', '--private-hosts', '127.0.0.0/8', '--fetcher', lane, '--json'];
  const under = ['sh', '-c', `ulimit -n ${OPEN_FILES}; exec "$@"`, 'sh'];
  const { code, stdout, stderr } = await workplace.start(args, pages.join('\n'), { under }).ended;
  expect({ code, stderr: stderr.includes('EMFILE') }).toEqual({ code: 0, stderr: false });
  expect(JSON.parse(stdout)).toMatchObject({ state: 'finished', done: HOSTS, failed: 0 });
});
