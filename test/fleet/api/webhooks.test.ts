import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { WebhookReceiver } from '../../support/listeners/webhook-receiver.ts';
import { openApi } from '../../support/processes/api-process.ts';
import { openFleet } from '../../support/processes/fleet.ts';

const secret = `whsec_${Buffer.from('a key of twenty-four bytes').toString('base64')}`;

test('an API killed during a webhook delivery, or before the run ended, delivers after its restart with the same id', async () => {
  const { workplace, site } = await openFleet({ pages: 5 });
  const receiver = await WebhookReceiver.open('hang');
  const seeds = [1, 2, 3].map((n) => site.url(`/page/${n}`));
  const first = await openApi(workplace);
  const opened = await first.ask('/api/runs', { run: 'w1', seeds, webhook: { url: receiver.url(), secret } });
  expect(opened.status).toBe(202);
  const { id, state } = (await first.ask('/api/runs/w1/webhook')).json;
  expect(state).toBe('waiting');
  // The run ends while no API is running.
  first.process.signal('SIGKILL');
  await first.process.ended;
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await expect.poll(async () => (await workplace.json(['status', 'w1'])).state, { interval: 500 }).toBe('finished');
  worker.signal('SIGTERM');
  const second = await openApi(workplace);
  await expect.poll(() => receiver.held).toBe(1);
  second.process.signal('SIGKILL');
  await second.process.ended;
  receiver.reacts(204);
  const third = await openApi(workplace);
  const standing = async (): Promise<string> => (await third.ask('/api/runs/w1/webhook')).json.state;
  await expect.poll(standing).toBe('delivered');
  expect([receiver.heard.length, receiver.ids]).toEqual([2, [id]]);
  for (const { headers, body } of receiver.heard)
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({
      type: 'run.finished',
      data: { run: 'w1', done: 3 },
    });
}, 180_000);

test('a webhook URL that is not allowed is refused with advice, and no run is opened', async () => {
  const { workplace, site } = await openFleet();
  const { ask } = await openApi(workplace);
  const refused = async (url: string): Promise<[number, string]> => {
    const run = { run: 'w2', seeds: [site.url('/page/1')], webhook: { url, secret } };
    const { status, json } = await ask('/api/runs', run);
    return [status, json.detail];
  };
  expect(await refused('ftp://a.test/')).toEqual([
    400,
    expect.stringContaining('expected a URL that begins with http:// or https://'),
  ]);
  expect(await refused('http://169.254.169.254/')).toEqual([
    422,
    "the webhook's address 169.254.169.254 is a private one, which PRIVATE_HOSTS doesn't allow",
  ]);
  expect((await ask('/api/runs/w2')).status).toBe(404);
});
