import { expect, test } from 'vitest';
import { nameOf, type ReleasedTask } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { groupOf } from '../../../../shared/task/group/group.ts';
import { markOf } from '../../../../shared/task/url/fingerprint.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, ROOM } from './frontier-setup.ts';
import { DONE, GROUP, groupsSetupOf, member, OWNER, PLAN, seed } from './groups-setup.ts';

export function describeGroups(name: string, open: OpenStore): void {
  const setup = groupsSetupOf(open);

  test(`${name}: the end of the last member creates the joins, layer by layer, and each join gets its inputs`, async () => {
    const { port, begun, follow, settle, take, one, counts } = await setup();
    const owner = await begun();
    expect(await follow(owner, [member('price'), member('reviews')])).toEqual({ accepted: 2, known: 0 });
    await settle(owner, { ...DONE, input: 'owner', tally: { stamp: 'a', links: 2 } });
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    expect([price, reviews].map(({ task }) => [task.step, task.url])).toEqual([
      ['price', 'http://a.test/price'],
      ['reviews', 'http://a.test/reviews'],
    ]);
    expect(await port.group('r', GROUP)).toEqual({ open: 2, joins: 0 });
    expect(await port.owner('r', GROUP)).toMatchObject({ task: { mark: OWNER } });
    await settle(price, { ...DONE, input: 'cheap' });
    expect(await take()).toEqual([]);
    await settle(reviews, { outcome: { kind: 'failed', reason: 'timeout' } });
    const offer = await one();
    expect(offer.task).toMatchObject({ step: 'offer', url: OWNER, join: { group: GROUP, per: '', owner: OWNER } });
    expect(await port.inputs('r', nameOf(offer))).toEqual({
      inputs: { [OWNER]: 'owner', [price.task.mark]: 'cheap' },
      isTooLarge: false,
      missing: { failed: 1 },
      firstMissing: [{ mark: reviews.task.mark, outcome: 'failed', reason: 'timeout' }],
    });
    expect(await settle(offer, { ...DONE, input: 'offered' })).toBe('settled');
    expect(await settle(offer, { ...DONE, input: 'again' })).toBe('already');
    expect(await port.inputs('r', nameOf(offer))).toBe('stale');
    const summary = await one();
    expect(await port.inputs('r', nameOf(summary))).toMatchObject({ inputs: { [offer.task.mark]: 'offered' } });
    expect(await counts()).toMatchObject({ openGroups: 1, inFlight: 1 });
    await settle(summary);
    expect(await counts()).toMatchObject({ openGroups: 0, discovered: 5, done: 4 });
    expect(await port.group('r', GROUP)).toBeUndefined();
  });

  test(`${name}: an owner without children creates the joins when it is done, and none when it fails`, async () => {
    const { port, begun, settle, one, counts, take } = await setup();
    const owner = await begun();
    await settle(owner, { ...DONE, input: 'owner' });
    const offer = await one();
    expect(await port.inputs('r', nameOf(offer))).toMatchObject({ inputs: { [OWNER]: 'owner' }, missing: {} });
    await settle(offer);
    await settle(await one());
    await port.offer('r', [seed('http://a.test/other')]);
    await settle(await one(), { outcome: { kind: 'failed', reason: 'timeout' } });
    expect(await take()).toEqual([]);
    expect(await counts()).toMatchObject({ openGroups: 0, discovered: 4 });
  });

  test(`${name}: members released only to fail end their group, and its joins are made`, async () => {
    const { port, begun, follow, settle, one, counts } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    await settle(owner, { ...DONE, tally: { stamp: 'a', links: 2 } });
    await port.fail('r', (await port.release(ROOM)).tasks.map(nameOf), 'host_down');
    const join = await one();
    expect(join.task).toMatchObject({ step: 'offer' });
    expect(await port.inputs('r', nameOf(join))).toMatchObject({ inputs: {}, missing: { failed: 2 } });
    expect(await counts()).toMatchObject({ discovered: 4, openGroups: 1 });
  });

  test(`${name}: an owner that fails after offering children creates no joins; its group closes with the last child`, async () => {
    const { port, begun, follow, settle, one, take, counts } = await setup();
    const owner = await begun();
    await follow(owner, [member('price')]);
    await settle(owner, { outcome: { kind: 'failed', reason: 'step' } });
    await settle(await one(), { ...DONE, input: 'cheap' });
    expect(await take()).toEqual([]);
    expect(await counts()).toMatchObject({ openGroups: 0, discovered: 2 });
    expect(await port.group('r', GROUP)).toBeUndefined();
  });

  test(`${name}: members offered by members count in the group; repeated and known ones do not`, async () => {
    const { port, begun, follow, settle, one, take, counts } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('price')]);
    await follow(owner, [member('price')], 'b');
    await settle(owner, { ...DONE, tally: { stamp: 'b', links: 1 } });
    const price = await one();
    await follow(price, [member('reviews')]);
    expect(await port.group('r', GROUP)).toMatchObject({ open: 2 });
    await settle(price, { ...DONE, tally: { stamp: 'a', links: 1 } });
    await settle(await one(), { outcome: { kind: 'retry', reason: 'timeout', inMs: 1 } });
    expect(await port.group('r', GROUP)).toMatchObject({ open: 1, joins: 0 });
    expect(await take()).toEqual([]);
    expect(await counts()).toMatchObject({ discovered: 3, waiting: 1 });
  });

  test(`${name}: members are released before other tasks waiting for their host, in the order they were offered`, async () => {
    const { port, begun, follow, take } = await setup();
    const owner = await begun();
    await port.offer('r', [seed('http://a.test/next')]);
    await follow(owner, [member('reviews'), seed('http://a.test/apart'), member('price')]);
    const paths = (await take()).map(({ task }) => task.url.replace('http://a.test/', ''));
    expect(paths).toEqual(['reviews', 'price', 'next', 'apart']);
  });

  test(`${name}: few groups of one host are open at a time, however many owners wait`, async () => {
    const { port, settle, counts } = await setup();
    await port.offer(
      'r',
      Array.from({ length: 200 }, (_, n) => seed(`http://a.test/p${n}`)),
    );
    let most = 0;
    for (let tasks = await port.release({ ...ROOM, limit: 5 }); tasks.tasks.length > 0; ) {
      for (const task of tasks.tasks) {
        await port.admit('r', nameOf(task), 'w');
        const isOwner = task.task.step === '';
        const children = ['price', 'reviews'].map((step) => member(step, groupOf(task.task.mark)));
        const tally = { stamp: 'a', links: 0 };
        if (isOwner) await port.offer('r', children, { parent: { ...nameOf(task), tally } });
        await settle(task, isOwner ? { ...DONE, tally: { ...tally, links: 2 } } : DONE);
      }
      most = Math.max(most, (await counts()).openGroups ?? 0);
      tasks = await port.release({ ...ROOM, limit: 5 });
    }
    expect(await counts()).toMatchObject({ openGroups: 0, discovered: 5 * 200 });
    expect(most).toBeLessThan(15);
  });

  test(`${name}: the joins of a run are created when nothing else is left, and again after it has taken more`, async () => {
    const { port, runs, settle, one, take, counts } = await setup({ joins: { ...PLAN, groups: {}, owners: {} } });
    await port.offer('r', [seed(OWNER)]);
    await settle(await one());
    expect(await take()).toEqual([]);
    await runs.seal('r', 'p');
    const report = await one();
    expect(report.task).toMatchObject({ step: 'report', url: '', join: { group: 'run' } });
    expect(await counts()).toMatchObject({ state: 'running', discovered: 2 });
    await runs.open('r', OPTIONS, 'q');
    await port.offer('r', [seed('http://a.test/more')]);
    await settle(report);
    await runs.seal('r', 'q');
    expect(await counts()).toMatchObject({ state: 'running', discovered: 3 });
    await settle(await one());
    const again = await one();
    expect(again.release).toBeGreaterThan(report.release);
    expect(again.task.mark).toBe(report.task.mark);
    await settle(again);
    expect(await counts()).toMatchObject({ state: 'finished', discovered: 4, done: 4 });
    await runs.open('r', OPTIONS, 'p');
    expect(await port.offer('r', [seed(OWNER)])).toEqual({ accepted: 0, known: 1 });
    await runs.seal('r', 'p');
    expect(await counts()).toMatchObject({ state: 'finished', discovered: 4 });
  });

  test(`${name}: a run that accepted nothing has no joins`, async () => {
    const { runs, counts } = await setup();
    await runs.seal('r', 'p');
    expect(await counts()).toMatchObject({ state: 'finished', discovered: 0 });
  });

  test(`${name}: a cancelled run creates no joins, and its groups are closed`, async () => {
    const { port, runs, begun, follow, settle, counts } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    await runs.cancel('r');
    await settle(owner, { ...DONE, input: 'owner', tally: { stamp: 'a', links: 2 } });
    await port.drain();
    expect(await counts()).toMatchObject({ openGroups: 0, discovered: 3, done: 1, waiting: 0, inFlight: 0 });
    expect(await port.group('r', GROUP)).toBeUndefined();
  });

  test(`${name}: a member put back into a cancelled run counts as ended in its group`, async () => {
    const { runs, begun, follow, settle, take, counts } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    await settle(owner, { ...DONE, tally: { stamp: 'a', links: 2 } });
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    await runs.cancel('r');
    await settle(price, { outcome: { kind: 'defer' } });
    await settle(reviews, { outcome: { kind: 'retry', reason: 'timeout', inMs: 1_000 } });
    expect(await counts()).toMatchObject({ state: 'cancelled', openGroups: 0, discovered: 3, waiting: 0, inFlight: 0 });
  });

  test(`${name}: joins do not count towards max-pages or the limit`, async () => {
    const { port, begun, settle, one, take } = await setup();
    await settle(await begun());
    await settle(await one());
    expect(await port.offer('r', [seed('http://a.test/2'), seed('http://a.test/3')], { limit: 2 })).toEqual({
      accepted: 1,
      known: 0,
      leftOut: { limit: 1 },
    });
    const parent = (await take()).find(({ task }) => task.join === undefined) ?? expect.fail('a page is due');
    const from = { parent: { ...nameOf(parent), tally: { stamp: 'a', links: 0 } }, most: 3 };
    expect(await port.offer('r', [seed('http://a.test/4'), seed('http://a.test/5')], from)).toEqual({
      accepted: 1,
      known: 0,
      leftOut: { maxPages: 1 },
    });
  });

  test.each<[string, Partial<RunOptions>]>([
    ['run', {}],
    ['incremental run', { incremental: true, recrawlAfterMs: 1 }],
  ])(`${name}: in a full %s, links to known members are duplicates, and new ones are left out`, async (_, options) => {
    const { port, begun, follow } = await setup(options);
    const owner = await begun();
    await follow(owner, [member('price')]);
    const parent = { ...nameOf(owner), tally: { stamp: 'a', links: 1 } };
    expect(await port.offer('r', [member('price'), member('reviews')], { parent, most: 2 })).toEqual({
      ...{ accepted: 0, known: 1 },
      leftOut: { maxPages: 1 },
    });
  });

  test(`${name}: a redirect target is claimed within the group; settling claims it if the claim was lost`, async () => {
    const { port, begun, follow, settle, take } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    const to = markOf('http://a.test/moved', 'price', undefined, GROUP);
    expect(await port.claim('r', nameOf(price), to)).toBe('claimed');
    expect(await port.claim('r', nameOf(reviews), to)).toBe('taken');
    const lost = markOf('http://a.test/lost', 'reviews', undefined, GROUP);
    await settle(price, { ...DONE, claimed: lost });
    expect(await port.claim('r', nameOf(reviews), lost)).toBe('taken');
  });

  test(`${name}: a redirect target claimed by a member that failed is free for other members of its group`, async () => {
    const { port, begun, follow, settle, take } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    const to = markOf('http://a.test/moved', 'price', undefined, GROUP);
    await port.claim('r', nameOf(price), to);
    await settle(price, { outcome: { kind: 'failed', reason: 'http_4xx' } });
    expect(await port.claim('r', nameOf(reviews), to)).toBe('claimed');
  });

  test(`${name}: a member is accepted by its group although its page is known outside, and refused in another group`, async () => {
    const { port, begun, follow, take, settle } = await setup();
    await port.offer('r', [{ ...seed('http://a.test/price'), mark: 'price http://a.test/price', step: 'price' }]);
    for (const each of await take()) await settle(each);
    const owner = await begun();
    expect(await follow(owner, [member('price')])).toEqual({ accepted: 1, known: 0 });
    await expect(port.offer('r', [member('price')])).rejects.toThrow('another group');
  });
}
