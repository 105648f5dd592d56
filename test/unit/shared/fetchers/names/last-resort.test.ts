import { expect, test } from 'vitest';
import type { SystemLookup } from '../../../../../shared/fetchers/names/last-resort.ts';
import { setup } from './setup.ts';

const HERE = [{ address: '10.0.0.1', family: 4 }];

/** A system that knows some names, and notes what it is asked. */
function systemThatKnows(...known: string[]): { asked: string[]; systemLookup: SystemLookup } {
  const asked: string[] = [];
  return {
    asked,
    systemLookup: async (name) => {
      asked.push(name);
      if (known.includes(name)) return HERE;
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    },
  };
}

test('the system is asked for names that the name servers do not know, and for no others', async () => {
  const { asked, systemLookup } = systemThatKnows('printer', 'wiki.corp');
  const zones = { 'a.test': { addresses: ['192.0.2.1'] }, 'broken.test': { says: 'SERVFAIL' } } as const;
  const { find } = await setup(zones, { systemLookup });
  expect(await find('printer')).toEqual(['10.0.0.1']);
  expect(await find('wiki.corp'), 'under a search domain').toEqual(['10.0.0.1']);
  expect(await find('a.test')).toEqual(['192.0.2.1']);
  expect(await find('broken.test')).toBe('ESERVFAIL');
  expect(await find('nobody.test')).toBe('ENOTFOUND');
  expect(asked).toEqual(['printer', 'wiki.corp', 'nobody.test']);
});

test('the system is asked for every name while no name server can be reached', async () => {
  const { asked, systemLookup } = systemThatKnows('a.test');
  const { find, server } = await setup({}, { systemLookup });
  server.stop();
  expect(await find('a.test')).toEqual(['10.0.0.1']);
  expect(asked).toEqual(['a.test']);
});

test('the system is not asked if name servers are configured', async () => {
  const { find } = await setup();
  expect(await find('runsc-or-any-host')).toBe('ENOTFOUND');
});

test('unknown names hold up no known ones: the system gets two at once, few wait, the rest count as unknown', async () => {
  const answer = Promise.withResolvers<void>();
  const asked: string[] = [];
  const systemLookup: SystemLookup = async (name) => {
    asked.push(name);
    await answer.promise;
    return HERE;
  };
  const { names, find } = await setup((name) => (name.startsWith('known') ? { addresses: ['192.0.2.1'] } : undefined), {
    systemLookup,
  });
  const unknown = Array.from({ length: 200 }, (_, n) => names.resolve(`n${n}.test`).catch(() => 'unknown' as const));
  const known = Array.from({ length: 200 }, (_, n) => find(`known${n}.test`));
  expect(await Promise.all(known)).toEqual(new Array(200).fill(['192.0.2.1']));
  expect(asked).toHaveLength(2);
  answer.resolve();
  const ends = await Promise.all(unknown);
  expect(ends.filter((end) => end === 'unknown')).toHaveLength(200 - 18);
});
