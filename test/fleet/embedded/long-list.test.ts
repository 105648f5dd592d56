import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { LoopbackServer } from '../../support/listeners/loopback-server.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { freePort } from '../../support/servers/machine.ts';

const HOSTS = 1_000;
const LISTED = 150_000;
const PAGES = 500;

/** Starts one server for all hosts, which have an address each. Returns its port. */
async function openHosts(): Promise<number> {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' }).end('<title>A page</title>');
  });
  const host = new LoopbackServer(server);
  server.on('connection', (socket) => host.keep(socket));
  const port = await freePort();
  server.listen(port, '0.0.0.0');
  await once(server, 'listening');
  onTestFinished(() => host.stop());
  return port;
}

test('pages of many hosts are fetched while a long list is still being read', async () => {
  const [workplace, port] = await Promise.all([openWorkplace(), openHosts()]);
  const urls = Array.from({ length: LISTED }, (_, n) => {
    const host = n % HOSTS;
    return `http://127.9.${Math.floor(host / 200)}.${1 + (host % 200)}:${port}/${Math.floor(n / HOSTS)}`;
  });
  workplace.start(['crawl', '-', '--run', 'long', '--private-hosts', '127.0.0.0/8', '--json'], urls.join('\n'));
  let status = { discovered: 0, done: 0 };
  while (status.done < PAGES) {
    const { code, stdout } = await workplace.run(['status', 'long', '--local', '--json']);
    if (code === 0) status = JSON.parse(stdout);
  }
  // If reading hogged the event loop, the whole list would be read by now.
  expect(status.discovered).toBeLessThan(LISTED / 2);
});
