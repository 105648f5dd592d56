import { expect, test } from 'vitest';
import { toFetchError } from '../../../../../shared/fetchers/error-codes.ts';
import { usableFamilies } from '../../../../../shared/fetchers/names/address-families.ts';
import { NameError, nameCodeOf } from '../../../../../shared/fetchers/names/name-error.ts';
import type { Zone } from '../../../../support/listeners/dns-server.ts';
import { setup } from './setup.ts';

// biome-ignore format: a table
test.each<[string, Zone | undefined, readonly string[] | string]>([
  ['an IPv4 address',               { addresses: ['192.0.2.1'] },                              ['192.0.2.1']],
  ['several IPv4 addresses',        { addresses: ['192.0.2.2', '192.0.2.1'] },                 ['192.0.2.2', '192.0.2.1']],
  ['IPv6 alone',                    { addresses: ['2001:db8::1'] },                            ['2001:db8::1']],
  ['IPv4 and IPv6, which is first', { addresses: ['192.0.2.1', '2001:db8::1'] },               ['2001:db8::1', '192.0.2.1']],
  ['an alias that has addresses',   { alias: 'other.test', addresses: ['192.0.2.3'] },         ['192.0.2.3']],
  ['an alias without addresses',    { alias: 'other.test' },                                   'ENOTFOUND'],
  ['no address',                    {},                                                        'ENOTFOUND'],
  ['no entry',                      undefined,                                                 'ENOTFOUND'],
  ['a server that answers SERVFAIL', { says: 'SERVFAIL' },                                     'ESERVFAIL'],
  ['a server that answers REFUSED', { says: 'REFUSED' },                                     'EREFUSED'],
])('looking up a name with %s', async (_, zone, found) => {
  const { find } = await setup((name) => (name === 'a.test' ? zone : undefined));
  expect(await find('a.test')).toEqual(found);
  expect(await find('A.Test.'), 'the same name').toEqual(found);
});

test('a name server that does not answer gives ETIMEOUT, which counts as timeout', async () => {
  const soon = { timeout: 50, tries: 1, maxTimeout: 50 };
  const patience = { first: soon, second: soon };
  const { names } = await setup({ 'a.test': { says: 'nothing at all' } }, { patience });
  const error = await names.resolve('a.test').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ETIMEOUT', hostname: 'a.test' });
  expect(toFetchError(error)).toMatchObject({ reason: 'timeout' });
});

test('impossible names are not found', async () => {
  const { find } = await setup();
  expect(await find('a..b')).toBe('ENOTFOUND');
  expect(await find(`${'a'.repeat(64)}.test`)).toBe('ENOTFOUND');
});

test('a name server that cannot be reached gives EAI_AGAIN, which counts as dns', async () => {
  const { server, names } = await setup({ 'a.test': { addresses: ['192.0.2.1'] } });
  const { address } = server;
  server.stop();
  const error = await names.resolve('a.test').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'EAI_AGAIN' });
  expect(String(error)).toContain(`a.test could not be looked up by ${address} (EAI_AGAIN). Check`);
  expect(toFetchError(error)).toMatchObject({ reason: 'dns' });
});

test('a question that Node.js drops while it looks for name servers, as when a machine starts, counts as dns', () => {
  const dropped = Object.assign(new Error('queryA EDESTRUCTION a.test'), { code: 'EDESTRUCTION' });
  expect(toFetchError(new NameError(nameCodeOf(dropped), 'a.test'))).toMatchObject({ reason: 'dns' });
});

test('a machine without IPv6 asks for no IPv6 addresses', async () => {
  const zones = { 'a.test': { addresses: ['192.0.2.1', '2001:db8::1'] } };
  const { find, server } = await setup(zones, { families: () => [4] });
  expect(await find('a.test')).toEqual(['192.0.2.1']);
  expect(server.asked).toEqual(['A a.test']);
});

test('localhost and names under it are this machine, and no name server is asked', async () => {
  const { find, server } = await setup({}, { families: () => [4] });
  expect(await find('localhost')).toEqual(['127.0.0.1']);
  expect(await find('app.localhost')).toEqual(['127.0.0.1']);
  expect(await (await setup()).find('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(server.asked).toEqual([]);
  expect(await find('notlocalhost')).toBe('ENOTFOUND');
  expect(server.asked).toEqual(['A notlocalhost']);
});

test('lookup answers as net.connect asks: with all addresses, the first one, or those of a family', async () => {
  const { names } = await setup({ 'a.test': { addresses: ['192.0.2.1', '2001:db8::1'] } });
  const ask = (name: string, options: object): Promise<unknown[]> =>
    new Promise((resolve) => names.lookup(name, options, (...answer) => resolve(answer)));
  const [v6, v4] = [
    { address: '2001:db8::1', family: 6 },
    { address: '192.0.2.1', family: 4 },
  ];
  expect(await ask('a.test', { all: true })).toEqual([null, [v6, v4]]);
  expect(await ask('a.test', {})).toEqual([null, '2001:db8::1', 6]);
  expect(await ask('a.test', { family: 4, all: true })).toEqual([null, [v4]]);
  expect(await ask('b.test', {})).toEqual([expect.objectContaining({ code: 'ENOTFOUND', hostname: 'b.test' }), []]);
});

test('IPv4 and IPv6 are both used if the addresses of the machine cannot be read', () => {
  const refused = (): never => {
    throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 13');
  };
  expect(usableFamilies(refused)).toEqual([6, 4]);
});
