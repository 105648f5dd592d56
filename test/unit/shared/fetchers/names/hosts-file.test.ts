import { expect, test } from 'vitest';
import { parseHosts } from '../../../../../shared/fetchers/names/hosts-file.ts';
import { setup } from './setup.ts';

test('a hosts file is read as hosts(5) says', () => {
  const hosts = parseHosts(`
127.0.0.1 localhost
# 192.0.2.9 commented.test
192.0.2.1\tone.test  ONE  one.test. # the first
192.0.2.2 two.test
2001:db8::2 two.test
192.0.2.2 two.test
not-an-address three.test
192.0.2.300 four.test
192.0.2.5
`);
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: [{ address: '127.0.0.1', family: 4 }],
    'one.test': [{ address: '192.0.2.1', family: 4 }],
    one: [{ address: '192.0.2.1', family: 4 }],
    'two.test': [
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::2', family: 6 },
    ],
  });
});

test('the hosts file wins over name servers, and a change of it takes effect', async () => {
  const { find, writeHosts, server, clock } = await setup({ 'a.test': { addresses: ['192.0.2.1'] } });
  await writeHosts('10.0.0.1 a.test\n10.0.0.2 __proto__ constructor\n');
  expect(await find('a.test')).toEqual(['10.0.0.1']);
  expect(await find('constructor')).toEqual(['10.0.0.2']);
  expect(server.asked).toEqual([]);
  await writeHosts('10.0.0.3 a.test localhost\n');
  clock.step(60_000);
  expect(await find('a.test')).toEqual(['10.0.0.3']);
  expect(await find('localhost')).toEqual(['10.0.0.3']);
  await writeHosts('');
  clock.step(60_000);
  expect(await find('a.test'), 'the name server knows').toEqual(['192.0.2.1']);
});

test('without IPv6, a name in the hosts file gives its IPv4 addresses, or IPv6 ones if it has no others', async () => {
  const { find, writeHosts } = await setup({}, { families: () => [4] });
  await writeHosts('10.0.0.1 both\n2001:db8::1 both six\n');
  expect(await find('both')).toEqual(['10.0.0.1']);
  expect(await find('six')).toEqual(['2001:db8::1']);
});
