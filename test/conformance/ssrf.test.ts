import type { LookupAddress } from 'node:dns';
import { afterAll, describe, expect, test } from 'vitest';
import { isDenied, NOTHING_PRIVATE } from '../../shared/task/host/private-address.ts';
import { isProblem, readUrl } from '../../shared/task/url/url.ts';
import { allowing } from '../support/allowing.ts';
import { LANES } from '../support/lane.ts';
import { rows } from './cases.ts';

interface AddressCase {
  readonly id: string;
  readonly input: string;
  readonly must_block: boolean;
  readonly class: 'literal' | 'name' | 'scheme' | 'public';
  readonly why: string;
}

const cases = rows<AddressCase>('ssrf.jsonl');

/** The names of the cases, as the resolvers of those who were attacked by them answer. */
const NAMES: Readonly<Record<string, string>> = {
  localhost: '127.0.0.1',
  'localhost.': '127.0.0.1',
  'foo.localhost': '127.0.0.1',
  'metadata.google.internal': '169.254.169.254',
  '127.0.0.1.nip.io': '127.0.0.1',
};
/** The address in a URL, without brackets. */
function addressIn(input: string): string {
  const url = readUrl(input);
  if (isProblem(url)) throw new Error(url.problem);
  return new URL(url.href).hostname.replace(/^\[|\]$/g, '');
}

describe.each(Object.entries(LANES))('%s', (_, open) => {
  const looked: string[] = [];
  const resolve = async (host: string): Promise<LookupAddress[]> => {
    looked.push(host);
    return [{ address: NAMES[host] ?? '127.0.0.1', family: 4 }];
  };
  const fetcher = open({ timeoutMs: 2_000, userAgent: 'TrawlBot/0 (test)', resolve });
  afterAll(() => fetcher.stop());

  for (const { id, input, class: kind, why } of cases.filter(({ must_block }) => must_block)) {
    test(`${id}: ${input} is refused: ${why}`, async () => {
      const url = readUrl(input);
      if (isProblem(url)) {
        expect(kind).toBe('scheme');
        return;
      }
      const fetched = fetcher.fetch({ url: url.href, maxBodyBytes: 1_000 });
      if (kind === 'scheme') await expect(fetched).rejects.toMatchObject({ reason: 'bad_url' });
      else await expect(fetched).rejects.toMatchObject({ reason: 'private_address' });
    });
  }

  test('an address is judged without asking a resolver, a name with one question', () => {
    // `LOCALHOST` is one of the spellings.
    expect(looked.toSorted()).toEqual([...Object.keys(NAMES), 'localhost'].toSorted());
  });
});

for (const { id, input, why } of cases.filter(({ must_block }) => !must_block)) {
  test(`${id}: ${input} is let through: ${why}`, () => {
    expect(isDenied(addressIn(input), NOTHING_PRIVATE)).toBe(false);
  });
}

// Whatever else is open: where credentials are handed out opens only when it is named.
const handsOutCredentials = ({ id, class: kind, why }: AddressCase): boolean =>
  kind === 'literal' && (id === 'ss004' || /metadata|Azure|ECS|AWS/.test(why));
for (const { id, input, why } of cases.filter(handsOutCredentials)) {
  test(`${id}: ${input} is opened by its address alone: ${why}`, () => {
    const address = addressIn(input);
    const everything = allowing('0.0.0.0/0', '::/0', 'metadata.google.internal');
    expect(isDenied(address, everything, 'metadata.google.internal')).toBe(true);
    expect(isDenied(address, allowing(address))).toBe(false);
  });
}
