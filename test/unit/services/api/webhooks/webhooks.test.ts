import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LocalLink } from '../../../../../services/api/link.ts';
import { HookFile, type KeptHook } from '../../../../../services/api/webhooks/hook-file.ts';
import { Webhooks } from '../../../../../services/api/webhooks/webhooks.ts';
import { hostHeadersOf } from '../../../../../services/process/host-headers.ts';
import { openFetcher } from '../../../../../shared/backends/fetchers.ts';
import { steer } from '../../../../../shared/control/steering/steering.ts';
import { silentLog } from '../../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../../shared/settings/settings.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../shared/task/durations.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { WebhookReceiver } from '../../../../support/listeners/webhook-receiver.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../../support/with-methods.ts';

const SECRET = `whsec_${Buffer.from('a key of twenty-four bytes').toString('base64')}`;

function keptHook(run: string, secret: string): KeptHook {
  const url = 'https://hooks.example/';
  return { id: run, run, url, secret, state: 'waiting', attempts: [], nextAt: 0, endedAt: null };
}

/** Webhooks over the store of a new folder, a clock that a test steps, and a real fetcher with its guard. */
async function setup(privateHosts = '127.0.0.0/8', hostHeaders?: object) {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-hooks-'));
  const environment: Record<string, string> = { OUTPUT_DIR: folder, PRIVATE_HOSTS: privateHosts };
  if (hostHeaders !== undefined) {
    environment.HOST_HEADERS = join(folder, 'host-headers.json');
    await writeFile(environment.HOST_HEADERS, JSON.stringify(hostHeaders));
  }
  const settings = settingsFrom({ flag: {}, environment, file: {} });
  const link = new LocalLink({ settings });
  await link.start();
  const real = await openFetcher({
    settings,
    version: '0',
    hostHeaders: await hostHeadersOf(settings),
    log: silentLog,
  });
  let underWay = 0;
  const fetcher = withMethods(real, {
    fetch: (request) => {
      underWay++;
      return real.fetch(request).finally(() => underWay--);
    },
  });
  const clock = new SteppedClock(Date.now());
  // Mid-way between a tenth less and a tenth more.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const opened: Webhooks[] = [];
  onTestFinished(async () => {
    random.mockRestore();
    for (const webhooks of opened) await webhooks.stop();
    await real.stop();
    await link.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const open = async (over = link): Promise<Webhooks> => {
    const webhooks = new Webhooks({
      ...{ link: over, clock, log: silentLog, allowedPrivate: settings.privateHosts },
      file: new HookFile(folder),
      fetcher: async () => fetcher,
    });
    opened.push(webhooks);
    await webhooks.start();
    return webhooks;
  };
  const begin = async (run: string): Promise<void> =>
    void (await link.withStores(({ runs }) => runs.open(run, FAST_RUN, 'p')));
  const end = async (run: string): Promise<void> =>
    void (await link.withStores((stores) => steer('cancel', run, 'a test', stores)));
  /** Adds a webhook of a run that has ended. */
  const addEnded = async (webhooks: Webhooks, run: string, url: string): Promise<void> => {
    await begin(run);
    await end(run);
    await webhooks.add(run, webhooks.check({ url, secret: SECRET }));
  };
  /** Steps a second after another until it holds, but never while an answer is under way that will come. Returns how many. */
  const stepUntil = async (
    holds: () => boolean,
    { hanging, stepMs = SECOND_MS }: { hanging?: WebhookReceiver; stepMs?: number } = {},
  ): Promise<number> => {
    let seconds = 0;
    const step = (): boolean => {
      if (holds()) return true;
      if (underWay > (hanging?.held ?? 0)) return false;
      clock.step(stepMs);
      seconds += stepMs / SECOND_MS;
      return false;
    };
    await expect.poll(step, { interval: 5 }).toBe(true);
    return seconds;
  };
  return { clock, folder, link, open, begin, end, addEnded, stepUntil };
}

test('each check asks the store once about all open runs, however many have a webhook', async () => {
  const { link, open, begin, end, stepUntil } = await setup();
  const receiver = await WebhookReceiver.open(204);
  const asked = { listOpen: 0, standing: new Set<string>() };
  const over = withMethods(link, {
    withStores: (action) =>
      link.withStores((stores) => {
        const { runs } = stores;
        const listOpen = (limit: number): Promise<readonly string[]> => {
          asked.listOpen++;
          return runs.listOpen(limit);
        };
        const standing = (run: string): ReturnType<typeof runs.standing> => {
          asked.standing.add(run);
          return runs.standing(run);
        };
        return action({ ...stores, runs: withMethods(runs, { listOpen, standing }) });
      }),
  });
  const webhooks = await open(over);
  for (let n = 0; n < 40; n++) {
    await begin(`r${n}`);
    await webhooks.add(`r${n}`, webhooks.check({ url: receiver.url(), secret: SECRET }));
  }
  await stepUntil(() => asked.listOpen > 5);
  expect([...asked.standing]).toEqual([]);
  await end('r7');
  await stepUntil(() => webhooks.find('r7')?.state === 'delivered');
  expect([[...asked.standing], receiver.heard.length]).toEqual([['r7'], 1]);
});

test('a failed delivery is repeated after growing delays, with the same id and a new signature and time', async () => {
  const { clock, open, begin, end, stepUntil } = await setup();
  const receiver = await WebhookReceiver.open(500, 503, 204);
  const webhooks = await open();
  await begin('r1');
  await webhooks.add('r1', webhooks.check({ url: receiver.url(), secret: SECRET }));
  const looked = clock.now() + 5 * SECOND_MS;
  await stepUntil(() => clock.now() > looked);
  expect([receiver.heard.length, webhooks.find('r1')?.state]).toEqual([0, 'waiting']);
  await end('r1');
  const attempts = () => webhooks.find('r1')?.attempts ?? [];
  await stepUntil(() => attempts().length === 1);
  await stepUntil(() => attempts().length === 2);
  await stepUntil(() => webhooks.find('r1')?.state === 'delivered');
  expect(attempts().map(({ status, error }) => [status, error])).toEqual([
    [500, 'HTTP 500'],
    [503, 'HTTP 503'],
    [204, null],
  ]);
  const [first = 0, second = 0, third = 0] = attempts().map(({ at }) => Date.parse(at));
  expect(second - first).toBeGreaterThanOrEqual(5 * SECOND_MS);
  expect(third - second).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(third - second).toBeLessThan(2 * MINUTE_MS);
  expect(receiver.ids).toEqual([webhooks.find('r1')?.id]);
  for (const { headers, body } of receiver.heard)
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ type: 'run.cancelled', data: { run: 'r1' } });
  expect(new Set(receiver.heard.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
});

test('a receiver that never accepts it is given up after a day, and one that answers 410 at once', async () => {
  const { clock, open, addEnded, stepUntil } = await setup();
  const [failing, gone] = [await WebhookReceiver.open(500), await WebhookReceiver.open(410)];
  const webhooks = await open();
  await addEnded(webhooks, 'r1', failing.url());
  await addEnded(webhooks, 'r2', gone.url());
  const begun = clock.now();
  await stepUntil(() => webhooks.find('r2')?.state === 'failed');
  await stepUntil(() => webhooks.find('r1')?.state === 'failed', { stepMs: 5 * MINUTE_MS });
  expect([gone.heard.length, failing.heard.length]).toEqual([1, 11]);
  expect(clock.now() - begun).toBeGreaterThan(22 * HOUR_MS);
  expect(clock.now() - begun).toBeLessThan(26 * HOUR_MS);
}, 30_000);

test('receivers that hang delay no other, not even behind a hundred deliveries of theirs, and fail after 15 s', async () => {
  const { open, addEnded, stepUntil } = await setup();
  const hanging = await WebhookReceiver.open('hang');
  const webhooks = await open();
  for (let n = 0; n < 100; n++) await addEnded(webhooks, `h${n}`, hanging.url());
  const good = await WebhookReceiver.open(204);
  await addEnded(webhooks, 'g1', good.url());
  const seconds = await stepUntil(() => webhooks.find('g1')?.state === 'delivered', { hanging });
  expect(seconds).toBeLessThan(15);
  await stepUntil(() => hanging.held > 0, { hanging });
  // Another look, while all that may hang do.
  await addEnded(webhooks, 'g2', good.url());
  await stepUntil(() => webhooks.find('g2')?.state === 'delivered', { hanging });
  expect(hanging.held).toBe(4);
  await stepUntil(() => (webhooks.find('h0')?.attempts.length ?? 0) > 0, { hanging });
  expect(webhooks.find('h0')).toMatchObject({
    state: 'delivering',
    attempts: [{ status: null, error: 'no answer within 15 s' }],
  });
}, 30_000);

test('a redirect is not followed, and says so', async () => {
  const { open, addEnded, stepUntil } = await setup();
  const other = await WebhookReceiver.open(204);
  const receiver = await WebhookReceiver.open({ redirectTo: other.url('/else') });
  const webhooks = await open();
  await addEnded(webhooks, 'r1', receiver.url());
  await stepUntil(() => (webhooks.find('r1')?.attempts.length ?? 0) > 0);
  expect(webhooks.find('r1')?.attempts).toMatchObject([{ status: 302, error: 'HTTP 302: redirects are not followed' }]);
  expect(other.heard).toEqual([]);
});

test('a receiver gets none of the credentials that this deployment has for its host', async () => {
  const receiver = await WebhookReceiver.open(204);
  const { host } = new URL(receiver.url());
  const { open, addEnded, stepUntil } = await setup('127.0.0.0/8', {
    [host]: { authorization: 'Bearer ours', cookie: 'a=b' },
  });
  const webhooks = await open();
  await addEnded(webhooks, 'r1', receiver.url('/job/build?really=yes'));
  await stepUntil(() => webhooks.find('r1')?.state === 'delivered');
  const [{ headers } = { headers: {} as Record<string, string> }] = receiver.heard;
  expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
});

test.each([
  ['http://169.254.169.254/latest/', /169\.254\.169\.254 is a private one/],
  ['http://2852039166/', /169\.254\.169\.254 is a private one/],
  ['http://[::ffff:169.254.169.254]/', /is a private one/],
  ['http://10.0.0.7/', /10\.0\.0\.7 is a private one, which PRIVATE_HOSTS doesn't allow/],
  ['http://[::1]:8080/', /::1 is a private one/],
  ['ftp://a.test/', /its scheme is ftp, not http or https/],
  ['http://user:pass@a.test/', /must not hold credentials/],
])('%s is refused when it is submitted', async (url, problem) => {
  const { open } = await setup();
  const webhooks = await open();
  expect(() => webhooks.check({ url, secret: SECRET })).toThrow(problem);
});

test('a host name with a private address is refused at each delivery', async () => {
  const { open, addEnded, stepUntil } = await setup('10.0.0.0/8');
  const receiver = await WebhookReceiver.open(204);
  const webhooks = await open();
  await addEnded(webhooks, 'r1', receiver.url().replace('127.0.0.1', 'localhost'));
  await stepUntil(() => webhooks.find('r1')?.attempts.length === 2);
  for (const { status, error } of webhooks.find('r1')?.attempts ?? [])
    expect([status, error]).toEqual([null, expect.stringMatching(/localhost has the private address/)]);
  expect(receiver.heard).toEqual([]);
});

test('a process that ends before or during the delivery leaves it to the next one, with the same id', async () => {
  const { open, begin, end, stepUntil } = await setup();
  const receiver = await WebhookReceiver.open('hang');
  const first = await open();
  await begin('r1');
  await first.add('r1', first.check({ url: receiver.url(), secret: SECRET }));
  const id = first.find('r1')?.id;
  await first.stop();
  // Another process finishes the run.
  await end('r1');
  const second = await open();
  await stepUntil(() => receiver.held === 1, { hanging: receiver });
  await second.stop();
  expect(second.find('r1')?.attempts).toEqual([]);
  receiver.reacts(204);
  const third = await open();
  await stepUntil(() => third.find('r1')?.state === 'delivered');
  expect([receiver.heard.length, receiver.ids]).toEqual([2, [id]]);
});

test('two processes on one folder keep the webhooks of each other in the file', async () => {
  const { open, begin, end, stepUntil } = await setup();
  const receiver = await WebhookReceiver.open(204);
  const [one, other] = [await open(), await open()];
  for (const [webhooks, run] of [
    [one, 'r1'],
    [other, 'r2'],
    [one, 'r3'],
  ] as const) {
    await begin(run);
    await webhooks.add(run, webhooks.check({ url: receiver.url(), secret: SECRET }));
  }
  const ids = [one.find('r1')?.id, other.find('r2')?.id, one.find('r3')?.id];
  await Promise.all([one.stop(), other.stop()]);
  for (const run of ['r1', 'r2', 'r3']) await end(run);
  const next = await open();
  await stepUntil(() => receiver.heard.length === 3);
  await stepUntil(() => ['r1', 'r2', 'r3'].every((run) => next.find(run)?.state === 'delivered'));
  expect(receiver.ids.toSorted()).toEqual(ids.toSorted());
});

test('changes made together are stored together, as each save writes all webhooks', async () => {
  const { open, folder } = await setup();
  const write = vi.spyOn(HookFile.prototype, 'write');
  onTestFinished(() => write.mockRestore());
  const webhooks = await open();
  const runs = Array.from({ length: 50 }, (_, n) => `run-${n}`);
  await Promise.all(runs.map((run) => webhooks.add(run, { url: 'https://hooks.example/', secret: SECRET })));
  expect((await new HookFile(folder).read()).map(({ run }) => run)).toEqual(runs);
  expect(write.mock.calls.length).toBeLessThan(5);
});

test('two processes with one id, as in containers, can write at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-hooks-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = [new HookFile(folder), new HookFile(folder)];
  for (let round = 0; round < 50; round++) {
    const written = files.map((file, n) => file.write([keptHook(`r${n}`, 'x'.repeat(100_000 * (n + 1)))]));
    await Promise.all(written);
    expect((await new HookFile(folder).read()).length).toBeGreaterThan(0);
  }
});

test('while the store is away no attempt is counted; a run that it has lost is given up after an hour', async () => {
  const { clock, link, open, addEnded, stepUntil } = await setup();
  const receiver = await WebhookReceiver.open(204);
  let isAway = true;
  const asked = vi.fn();
  const over = withMethods(link, {
    withStores: (action) => {
      asked();
      return isAway ? Promise.reject(new Error('away')) : link.withStores(action);
    },
  });
  const webhooks = await open(over);
  await addEnded(webhooks, 'r1', receiver.url());
  await webhooks.add('lost', webhooks.check({ url: receiver.url(), secret: SECRET }));
  await stepUntil(() => asked.mock.calls.length > 5);
  expect(webhooks.find('r1')).toMatchObject({ state: 'waiting', attempts: [] });
  isAway = false;
  await stepUntil(() => webhooks.find('r1')?.state === 'delivered');
  expect(webhooks.find('lost')?.state).toBe('waiting');
  clock.step(HOUR_MS);
  await stepUntil(() => webhooks.find('lost')?.state === 'failed');
  expect(webhooks.find('lost')?.attempts).toMatchObject([{ error: 'the store no longer knows the run' }]);
});

test('a damaged file of webhooks is named, with how to fix it', async () => {
  const { folder, open } = await setup();
  await writeFile(join(folder, 'webhooks.json'), '[{"id":');
  await expect(open()).rejects.toThrow(/webhooks\.json can't be read: .*restore it, or remove it/s);
});
