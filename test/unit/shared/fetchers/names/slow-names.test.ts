import { expect, test, vi } from 'vitest';
import { setup } from './setup.ts';

const HERE = { addresses: ['192.0.2.1'] };
const ONE = [{ address: '192.0.2.1', family: 4 }];
const namesOf = (label: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${label}${n}.test`);

test('names that take five seconds are found if the server is quick with all others', async () => {
  const { names } = await setup((name) => ({ ...HERE, delayMs: name.startsWith('slow') ? 5_000 : 5 }));
  for (const name of namesOf('quick', 10)) await names.resolve(name);
  const slow = await Promise.all(namesOf('slow', 20).map((name) => names.resolve(name)));
  expect(slow).toEqual(new Array(20).fill(ONE));
}, 20_000);

test('names that take five seconds are found if the server is slow with all names', async () => {
  const { names } = await setup(() => ({ ...HERE, delayMs: 5_000 }));
  const slow = await Promise.all(namesOf('slow', 20).map((name) => names.resolve(name)));
  expect(slow).toEqual(new Array(20).fill(ONE));
}, 20_000);

test('slow names make room for others, and are found once they are answered', async () => {
  const answer = Promise.withResolvers<void>();
  const { names } = await setup((name) => (name.startsWith('slow') ? { ...HERE, held: answer.promise } : HERE));
  const slow = namesOf('slow', 200).map((name) => names.resolve(name));
  const found = await Promise.all(namesOf('quick', 200).map((name) => names.resolve(name)));
  expect(found).toEqual(new Array(200).fill(ONE));
  answer.resolve();
  expect(await Promise.all(slow)).toEqual(new Array(200).fill(ONE));
}, 20_000);

test('at most 512 slow names are asked for again at once', async () => {
  const answer = Promise.withResolvers<void>();
  const soon = { timeout: 50, tries: 1, maxTimeout: 50 };
  const late = { timeout: 10_000, tries: 1, maxTimeout: 10_000 };
  const { names, server } = await setup(
    (name) => (name.startsWith('slow') ? { ...HERE, held: answer.promise } : HERE),
    {
      families: () => [4],
      patience: { first: soon, second: late },
    },
  );
  const askedAgain = (): number => server.asked.length - new Set(server.asked).size;
  const slow = namesOf('slow', 600).map((name) => names.resolve(name));
  await vi.waitFor(() => expect(askedAgain()).toBe(512), 10_000);
  await names.resolve('quick.test');
  expect(askedAgain()).toBe(512);
  answer.resolve();
  expect(await Promise.all(slow)).toEqual(new Array(600).fill(ONE));
}, 20_000);

test('a server that does not answer for IPv6 is not asked for it again', async () => {
  const { names, server } = await setup({ 'a.test': { ...HERE, isSilentOn: 'AAAA' } });
  expect(await names.resolve('a.test')).toEqual(ONE);
  expect(server.asked.toSorted()).toEqual(['A a.test', 'AAAA a.test']);
});
