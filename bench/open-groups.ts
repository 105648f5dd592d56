import { Redis } from 'ioredis';
import { MAX_OFFER, nameOf, type Offer, type ReleasedTask } from '../shared/ports/frontier/frontier.ts';
import { WINDOW_EVERY_MS } from '../shared/stores/policy.ts';
import { groupOf, groupOfMark } from '../shared/task/group/group.ts';
import type { JoinPlan } from '../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../shared/task/task/form.ts';
import { markOf } from '../shared/task/url/fingerprint.ts';
import { FAST_RUN } from '../test/support/builders.ts';
import { needPrograms } from '../test/support/servers/ladder.ts';
import { privateServers } from '../test/support/servers/programs.ts';
import { openSqliteFile, redisStores, type Store } from '../test/support/stores/stores.ts';
import { readCommandLine } from './command-line.ts';
import { Figures } from './figures.ts';
import { RedisFigures } from './simulated/redis-figures.ts';
import { type Row, tableOf } from './table.ts';

const { owners, window, only } = readCommandLine(
  `npm run bench:groups -- [--owners 100000] [--window 4000] [--only redis,sqlite,bytes]
Measures how many groups are open at once while the owners of one host are worked, and how much Redis memory an open group takes. Offers,
releases and settles go directly to a Redis and a SQLite file of its own; nothing is fetched.`,
  { owners: 100_000, window: 4_000, only: '' },
);
/** Tasks worked on at once, and tasks released at once. */
const [IN_HAND, RELEASED] = [200, 200];
const STEP_MS = 5;
const GROUPS_WEIGHED = 10_000;
const TOLD_EVERY_MS = 10_000;
const INPUT = JSON.stringify({ url: 'https://shop.example/products/1/price', kept: {}, records: [{ price: 1_250 }] });

/** The steps below a product. A join, the offer, takes all three. */
const MEMBERS = ['price', 'reviews'];
const PLAN: JoinPlan = {
  joins: { offer: { per: '', of: ['', ...MEMBERS] } },
  groups: { '': { layers: [['offer']], takes: ['', ...MEMBERS] } },
  owners: { price: '', reviews: '' },
  run: [],
};

const rows: Row[] = [];
const servers = await privateServers(needPrograms());
await servers.redis.start();
try {
  await part('redis', inRedis);
  await part('sqlite', async () => await worked('SQLite', await openSqliteFile()));
  await part('bytes', weighed);
  process.stdout.write(`\n${tableOf(['', 'figure', 'must', ''], rows)}`);
} finally {
  await servers.remove();
}

async function inRedis(): Promise<void> {
  const stores = redisStores(servers.redis.url);
  await worked('Redis', await stores.open());
  await stores.close();
}

/** Works all owners of one host, to the end of their joins. */
async function worked(name: string, store: Store): Promise<void> {
  const began = performance.now();
  await begun(store, owners);
  let [most, ended, told] = [0, 0, performance.now()];
  const queue: ReleasedTask[] = [];
  for (;;) {
    for (let more = RELEASED; more === RELEASED && queue.length < window; ) {
      const { tasks } = await store.port.release({ limit: RELEASED, window, unpaced: false });
      queue.push(...tasks);
      more = tasks.length;
    }
    const some = queue.splice(0, IN_HAND);
    if (some.length === 0) break;
    // No delivery is late, so all of the window is used.
    store.step(STEP_MS);
    await Promise.all(some.map((task) => work(store, task)));
    ended += some.length;
    const progress = await store.runs.progress('r');
    most = Math.max(most, progress?.openGroups ?? 0);
    if (performance.now() - told < TOLD_EVERY_MS) continue;
    told = performance.now();
    process.stderr.write(`  ${name}: ${ended} tasks ended, ${progress?.openGroups} groups are open\n`);
  }
  const { done, discovered, openGroups } = (await store.runs.progress('r')) ?? {};
  const all = owners * (2 + MEMBERS.length);
  if (done !== all || discovered !== all || openGroups !== 0)
    throw new Error(`${name}: expected ${all} done tasks and no open group, got ${done}, ${discovered}, ${openGroups}`);
  rows.push([`${name}: groups open at most, of ${owners}`, new Figures([most]).text(), '< 5 000', '']);
  rows.push(['  tasks a second', new Figures([(1_000 * all) / (performance.now() - began)]).text(), '', '']);
  await store.close();
}

/** Measures the memory of groups whose owner and one of two members are done. */
async function weighed(): Promise<void> {
  const redis = new Redis(servers.redis.url);
  const figures = new RedisFigures(redis);
  const stores = redisStores(servers.redis.url);
  const store = await stores.open();
  await begun(store, GROUPS_WEIGHED);
  const before = await figures.memory();
  for (let released = RELEASED; released > 0; ) {
    const { tasks } = await store.port.release({ limit: RELEASED, window: 2 * GROUPS_WEIGHED, unpaced: false });
    released = tasks.length;
    store.step(WINDOW_EVERY_MS);
    // The reviews, the last member of each group, stay in flight.
    const worth = tasks.filter(({ task }) => task.step !== 'reviews');
    await Promise.all(worth.map((task) => work(store, task)));
  }
  const { openGroups = 0 } = (await store.runs.progress('r')) ?? {};
  const keys = await redis.keys('*:group:*');
  const own = await redis.pipeline(keys.map((key) => ['memory', 'usage', key, 'samples', '0'])).exec();
  const bytesOf = (isInputs: boolean): number =>
    (own ?? []).reduce(
      (sum, [, usage], at) => sum + (keys[at]?.endsWith(':inputs') === isInputs ? Number(usage) : 0),
      0,
    );
  const all = (await figures.memory()) - before;
  rows.push(['Redis bytes per open group', new Figures([bytesOf(false) / openGroups]).text(), '≤ 300', '']);
  rows.push([
    '  of what its joins get: the owner, two inputs',
    new Figures([bytesOf(true) / openGroups]).text(),
    '',
    '',
  ]);
  rows.push([
    '  what more Redis takes for it, with a member in flight',
    new Figures([all / openGroups]).text(),
    '',
    '',
  ]);
  await store.close();
  redis.disconnect();
  await stores.close();
}

/** Opens a run and offers all its owners. */
async function begun({ port, runs }: Store, count: number): Promise<void> {
  await runs.open('r', { ...FAST_RUN, joins: PLAN }, 'p');
  for (let at = 0; at < count; at += MAX_OFFER) {
    const some = Array.from({ length: Math.min(MAX_OFFER, count - at) }, (_, n) =>
      offerOf(urlOf(at + n), '', undefined),
    );
    await port.offer('r', some);
  }
}

/** Makes the calls to a store that a worker makes for a page or a join. */
async function work({ port }: Store, released: ReleasedTask): Promise<void> {
  const [name, { task }] = [nameOf(released), released];
  await port.admit('r', name, 'w');
  if (task.join !== undefined) {
    await port.inputs('r', name);
    await port.settle('r', name, { outcome: { kind: 'done' } });
  } else if (groupOfMark(task.mark) !== undefined) {
    await port.settle('r', name, { outcome: { kind: 'done' }, input: INPUT });
  } else {
    const children = MEMBERS.map((step) => offerOf(`${task.url}/${step}`, step, groupOf(task.mark)));
    await port.offer('r', children, { parent: { ...name, tally: { stamp: 'a', links: 0 } } });
    const tally = { stamp: 'a', links: children.length };
    await port.settle('r', name, { outcome: { kind: 'done' }, input: INPUT, tally });
  }
}

function urlOf(n: number): string {
  return `https://shop.example/products/${String(n).padStart(40, '0')}`;
}

function offerOf(url: string, step: string, group: string | undefined): Offer {
  return {
    ...INITIAL_FIELDS,
    url,
    step,
    host: 'shop.example',
    queue: 'normal',
    mark: markOf(url, step, undefined, group),
  };
}

async function part(name: string, work: () => Promise<void>): Promise<void> {
  if (only === '' || only.split(',').includes(name)) await work();
}
