import { expect, test } from 'vitest';
import { nameOf, type ReleasedTask } from '../../../../shared/ports/frontier/frontier.ts';
import { MOST_MISSING } from '../../../../shared/ports/frontier/groups.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { DONE, GROUP, groupsSetupOf, member, PLAN, seed } from './groups-setup.ts';

/** What a join gets of its group. */
export function describeGroupInputs(name: string, open: OpenStore): void {
  const setup = groupsSetupOf(open);

  test(`${name}: the inputs of a group above the size bound are marked too large, and stay within the bound`, async () => {
    const { port, begun, follow, settle, take, one } = await setup();
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    for (const each of [price, reviews]) await settle(each, { ...DONE, input: 'x'.repeat(600_000) });
    await settle(owner, { ...DONE, input: 'small, but too late', tally: { stamp: 'a', links: 2 } });
    const inputs = await port.inputs('r', nameOf(await one()));
    if (inputs === 'stale') throw new Error('the join is in flight');
    expect([inputs.isTooLarge, Object.keys(inputs.inputs)]).toEqual([true, [price.task.mark]]);
  });

  test(`${name}: all members that a join misses are counted, and the first hundred are named`, async () => {
    const { port, begun, follow, settle, take, one } = await setup();
    const owner = await begun();
    const all = Array.from({ length: MOST_MISSING + 1 }, (_, n) => member('price', GROUP, `price/${n}`));
    await follow(owner, all);
    await settle(owner, { ...DONE, tally: { stamp: 'a', links: all.length } });
    for (const each of await take()) await settle(each, { outcome: { kind: 'skipped', reason: 'content_type' } });
    const inputs = await port.inputs('r', nameOf(await one()));
    if (inputs === 'stale') throw new Error('the join is in flight');
    expect(inputs.missing).toEqual({ skipped: MOST_MISSING + 1 });
    expect(inputs.firstMissing.map(({ mark }) => mark)).toEqual(all.slice(0, MOST_MISSING).map(({ mark }) => mark));
  });

  test(`${name}: a join gets only what its steps have given, whatever else members give`, async () => {
    const groups = { '': { layers: [['offer'], ['summary']], takes: ['price'] } };
    const { port, begun, follow, settle, take, one } = await setup({ joins: { ...PLAN, groups } });
    const owner = await begun();
    await follow(owner, [member('price'), member('reviews')]);
    await settle(owner, { ...DONE, input: 'owner', tally: { stamp: 'a', links: 2 } });
    const [price, reviews] = (await take()) as [ReleasedTask, ReleasedTask];
    await settle(price, { ...DONE, input: 'cheap' });
    await settle(reviews, { ...DONE, input: 'good' });
    expect(await port.inputs('r', nameOf(await one()))).toEqual({
      ...{ isTooLarge: false, missing: {}, firstMissing: [] },
      inputs: { [price.task.mark]: 'cheap' },
    });
  });

  test(`${name}: a join gets its owner as that was when it ended, without the redirects and their cookies`, async () => {
    const { port, begun, follow, settle, take, one } = await setup();
    const owner = await begun();
    await follow(owner, [member('price')]);
    const way = { redirects: ['http://b.test/p'], cookies: [['http://a.test/p', 'id=1']] } as const;
    const moved = { ...owner.task, host: 'b.test', logins: { 'http://b.test': 'user:secret' }, ...way };
    await settle(owner, { ...DONE, moved, tally: { stamp: 'a', links: 1 } });
    expect(await port.owner('r', GROUP)).toMatchObject({ task: way });
    for (const each of await take()) await settle(each);
    const { task } = await one();
    expect(task).toMatchObject({ step: 'offer', logins: moved.logins });
    for (const field of Object.keys(way)) expect(task).not.toHaveProperty(field);
  });

  test(`${name}: joins wait for no pace, however slow their run`, async () => {
    const { port, settle, take } = await setup({ intervalMs: 60_000 });
    const hosts = ['a.test', 'b.test', 'c.test'];
    await port.offer(
      'r',
      hosts.map((host) => ({ ...seed(`http://${host}/`), host })),
    );
    for (const owner of await take()) await settle(owner);
    expect((await take()).map(({ task }) => task.step)).toEqual(['offer', 'offer', 'offer']);
  });
}
