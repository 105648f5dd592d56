import { expect, test } from 'vitest';
import { setup } from './setup.ts';

const MANY = Array.from({ length: 500 }, (_, n) => `n${n}.test`);
const HERE = { addresses: ['192.0.2.1'] };

test('of 500 names that take 50 ms each, 64 are asked for at once', async () => {
  const { names, server } = await setup(() => ({ ...HERE, delayMs: 50 }));
  const found = await Promise.all(MANY.map((name) => names.resolve(name)));
  expect(found.every(([first]) => first?.address === '192.0.2.1')).toBe(true);
  expect(server.mostOpen).toBe(64);
  expect(server.asked.length, 'A and AAAA of each').toBe(1_000);
}, 20_000);

test('a few slow names hold up no others', async () => {
  const slow = Promise.withResolvers<void>();
  const isSlow = (name: string): boolean => name.endsWith('7.test') && name.length === 7;
  const { names } = await setup((name) => (isSlow(name) ? { ...HERE, held: slow.promise } : HERE));
  const lookups = new Map(MANY.map((name) => [name, names.resolve(name)]));
  const quick = MANY.filter((name) => !isSlow(name)).map((name) => lookups.get(name));
  expect(quick.length).toBeLessThan(500);
  expect(await Promise.all(quick)).toHaveLength(quick.length);
  slow.resolve();
  expect(await Promise.all(lookups.values())).toHaveLength(500);
});

test('a name that many ask for is asked for once, and again after a minute', async () => {
  const answer = Promise.withResolvers<void>();
  const { names, server, clock } = await setup(
    { 'a.test': { ...HERE, held: answer.promise } },
    { families: () => [4] },
  );
  const asking = Array.from({ length: 20 }, () => names.resolve('a.test'));
  answer.resolve();
  for (const addresses of await Promise.all(asking)) expect(addresses).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(server.asked).toEqual(['A a.test']);
  clock.step(59_999);
  await names.resolve('a.test');
  expect(server.asked, 'kept').toHaveLength(1);
  clock.step(1);
  await names.resolve('a.test');
  expect(server.asked, 'after a minute').toHaveLength(2);
});

test('a failure is cached for five seconds, and each caller gets an error of its own', async () => {
  const { names, server, clock } = await setup({}, { families: () => [4] });
  const fail = (): Promise<unknown> => names.resolve('a.test').catch((error: unknown) => error);
  const [one, two] = await Promise.all([fail(), fail()]);
  expect(one).toMatchObject({ code: 'ENOTFOUND', message: 'a.test is not known to DNS (ENOTFOUND)' });
  expect(one).not.toBe(two);
  clock.step(4_999);
  await fail();
  expect(server.asked).toHaveLength(1);
  clock.step(1);
  await fail();
  expect(server.asked).toHaveLength(2);
});

test('a caller that changes its addresses does not change the cached ones', async () => {
  const { names } = await setup({ 'a.test': HERE });
  (await names.resolve('a.test')).length = 0;
  expect(await names.resolve('a.test')).toHaveLength(1);
});
